// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/origins/SuperblockRun.h"
#include "query/replay/operations/FloatOperations.h"
#include "query/replay/operations/Helpers.h"
#include "trace-format/events/Events.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::origins {

using namespace operations;
using bytecode::typeSize;

template <class T> static T read(const TempValue &V) {
  return loadValue<T>(V.data());
}
template <class T> static TempValue written(const T &Value) {
  TempValue V = {};
  storeValue(V.data(), Value);
  return V;
}

// NOLINTNEXTLINE(readability-function-size): a table of operations.
TempValue computeOperation(unsigned N, ArrayRef<TempValue> V) {
#define CH_ARITY_1(NAME, TA, TB, TC, TD) op_##NAME(read<Type##TA>(V[0]))
#define CH_ARITY_2(NAME, TA, TB, TC, TD)                                       \
  op_##NAME(read<Type##TA>(V[0]), read<Type##TB>(V[1]))
#define CH_ARITY_3(NAME, TA, TB, TC, TD)                                       \
  op_##NAME(read<Type##TA>(V[0]), read<Type##TB>(V[1]), read<Type##TC>(V[2]))
#define CH_ARITY_4(NAME, TA, TB, TC, TD)                                       \
  op_##NAME(read<Type##TA>(V[0]), read<Type##TB>(V[1]), read<Type##TC>(V[2]),  \
            read<Type##TD>(V[3]))
  enum : unsigned {
#define CH_REPLAY_OP(Name, Result, Arity, A, B, C, D) Number_##Name,
#include "trace-format/ReplayOps.def"
#undef CH_REPLAY_OP
  };
  switch (N) {
#define CH_REPLAY_OP(Name, Result, Arity, A, B, C, D)                          \
  case Number_##Name:                                                          \
    return written<Type##Result>(CH_ARITY_##Arity(Name, A, B, C, D));
#include "trace-format/ReplayOps.def"
#undef CH_REPLAY_OP
  }
  llvm_unreachable("the reader checks the numbers of operations");
}

/// A constant, cut to the width of its type.
static TempValue constant(uint64_t Value, ch_type Type) {
  TempValue V = {};
  const unsigned Size = typeSize(Type);
  if (Type == CH_V128 || Type == CH_V256) {
    for (unsigned I = 0; I < Size; ++I)
      V[I] = Value >> I & 1 ? 0xff : 0;
    return V;
  }
  if (Type == CH_I1)
    Value &= 1;
  std::memcpy(V.data(), &Value, std::min(Size, 8u));
  return V;
}

TempValue SuperblockRun::value(const bytecode::Atom &A, ch_type Type) const {
  return A.IsTemp ? Temps[A.Temp] : constant(A.Constant, Type);
}

ch_type SuperblockRun::typeOf(uint32_t Temp) const {
  return Steps[Definitions[Temp]].S.DefinedType;
}

void SuperblockRun::load(uint64_t Address, uint8_t *To, size_t Size,
                         state::StateCursor &Cursor) {
  Cursor.memory().read(Address, To, Size);
  for (const auto &[At, Bytes] : Stores)
    for (size_t I = 0; I < Bytes.size(); ++I)
      if (At + I - Address < Size)
        To[At + I - Address] = Bytes[I];
}

void SuperblockRun::store(uint64_t Address, ArrayRef<uint8_t> Bytes) {
  Stores.emplace_back(Address, Bytes.vec());
}

Error SuperblockRun::takeOpaque(uint8_t *To, size_t Size) {
  if (Opaque.size() < Size)
    return createStringError("the block has too few opaque bytes");
  std::memcpy(To, Opaque.data(), Size);
  Opaque = Opaque.drop_front(Size);
  return Error::success();
}

void SuperblockRun::define(const Step &X, unsigned Which, const TempValue &V) {
  Temps[X.S.FirstTemp + Which] = V;
}

/// Makes the writes from outside that loads of the instruction found.
void SuperblockRun::applyOutside(state::StateCursor &Cursor,
                                 uint32_t Instruction, bool AtSwap) {
  for (const Event &E : Cursor.block().Events) {
    if (E.Execution != Item.Index)
      continue;
    auto W = E.as<events::OutsideWriteEvent>();
    if (!W || W->found_by != CH_FOUND_BY_LOAD)
      continue;
    const bool BeforeSwap = W->flags & CH_OUTSIDE_BEFORE_SWAP;
    if (W->instruction == Instruction && BeforeSwap == AtSwap &&
        (Instruction || BeforeSwap))
      store(W->address, W->bytes());
  }
}

/// What a guarded load reads, extended as its conversion says.
static TempValue converted(uint8_t Conversion, const uint8_t *Bytes) {
  switch (Conversion) {
  case CH_LOAD_16S_32:
    return written<uint32_t>(uint32_t(int16_t(loadValue<uint16_t>(Bytes))));
  case CH_LOAD_8S_32:
    return written<uint32_t>(uint32_t(int8_t(Bytes[0])));
  default: {
    TempValue V = {};
    std::memcpy(V.data(), Bytes, bytecode::conversionBytes(Conversion));
    return V;
  }
  }
}

// NOLINTNEXTLINE(readability-function-size): one case per statement.
Error SuperblockRun::execute(Step &X, state::StateCursor &Cursor) {
  const bytecode::Statement &S = X.S;
  const unsigned Size = typeSize(S.Type);
  TempValue V = {};
  auto Operand = [&](unsigned I, ch_type Type) {
    return value(S.Atoms[I], Type);
  };
  auto Word = [&](unsigned I) { return read<uint64_t>(Operand(I, CH_I64)); };
  auto Element = [&](unsigned I) {
    const auto Index = read<uint32_t>(Operand(I, CH_I32)) + uint32_t(S.Bias);
    return S.Offset + Index % S.Elements * Size;
  };
  switch (S.Opcode) {
  case CH_OP_GET:
    X.Place = S.Offset;
    std::memcpy(V.data(), State.data() + S.Offset, Size);
    define(X, 0, V);
    break;
  case CH_OP_PUT:
    X.Place = S.Offset;
    std::memcpy(State.data() + S.Offset, Operand(0, S.Type).data(), Size);
    break;
  case CH_OP_GET_INDEXED:
    X.Place = Element(0);
    std::memcpy(V.data(), State.data() + X.Place, Size);
    define(X, 0, V);
    break;
  case CH_OP_PUT_INDEXED:
    X.Place = Element(0);
    std::memcpy(State.data() + X.Place, Operand(1, S.Type).data(), Size);
    break;
  case CH_OP_LOAD:
    X.Place = Word(0);
    load(X.Place, V.data(), Size, Cursor);
    define(X, 0, V);
    break;
  case CH_OP_STORE:
    X.Place = Word(0);
    V = Operand(1, S.Type);
    store(X.Place, ArrayRef(V).take_front(Size));
    break;
  case CH_OP_STORE_GUARDED:
    X.Taken = Operand(0, CH_I1)[0];
    X.Place = Word(1);
    V = Operand(2, S.Type);
    if (X.Taken)
      store(X.Place, ArrayRef(V).take_front(Size));
    break;
  case CH_OP_LOAD_GUARDED: {
    X.Taken = Operand(0, CH_I1)[0];
    X.Place = Word(1);
    uint8_t Bytes[16] = {};
    if (X.Taken)
      load(X.Place, Bytes, bytecode::conversionBytes(S.Conversion), Cursor);
    define(X, 0,
           X.Taken ? converted(S.Conversion, Bytes)
                   : Operand(2, S.DefinedType));
    break;
  }
  case CH_OP_CAS: {
    applyOutside(Cursor, X.Instruction, /*AtSwap=*/true);
    X.Place = Word(0);
    const unsigned Count = S.Double ? 2 : 1;
    X.Taken = true;
    for (unsigned I = 0; I < Count; ++I) {
      V = {};
      load(X.Place + I * Size, V.data(), Size, Cursor);
      X.Taken &=
          std::memcmp(V.data(), Operand(1 + 2 * I, S.Type).data(), Size) == 0;
      define(X, I, V);
    }
    for (unsigned I = 0; X.Taken && I < Count; ++I) {
      V = Operand(2 + 2 * I, S.Type);
      store(X.Place + I * Size, ArrayRef(V).take_front(Size));
    }
    break;
  }
  case CH_OP_ITE:
    X.Taken = Operand(0, CH_I1)[0];
    define(X, 0, Operand(X.Taken ? 1 : 2, S.Type));
    break;
  case CH_OP_CALL: {
    uint64_t A[5] = {};
    for (unsigned I = 0; I < std::min<unsigned>(S.AtomCount, 5); ++I)
      A[I] = Word(I);
    const uint64_t Result = helper(S.Helper)(A[0], A[1], A[2], A[3], A[4]);
    std::memcpy(V.data(), &Result, std::min(Size, 8u));
    define(X, 0, V);
    break;
  }
  case CH_OP_OPAQUE:
    if (Error E = takeOpaque(V.data(), Size))
      return E;
    define(X, 0, V);
    break;
  case CH_OP_OPAQUE_REGISTERS:
    X.Place = S.Offset;
    return takeOpaque(State.data() + S.Offset, S.Size);
  case CH_OP_OPAQUE_MEMORY: {
    X.Taken = Operand(0, CH_I1)[0];
    X.Place = Word(1);
    if (!X.Taken)
      break;
    std::vector<uint8_t> Bytes(S.Size);
    if (Error E = takeOpaque(Bytes.data(), Bytes.size()))
      return E;
    store(X.Place, Bytes);
    break;
  }
  case CH_OP_COPY:
    define(X, 0, Operand(0, S.Type));
    break;
  case CH_OP_FIRST: {
    const bytecode::OperationInfo &Info = bytecode::operationInfo(S.Operation);
    SmallVector<TempValue, 4> Operands;
    for (unsigned I = 0; I < Info.Arity; ++I)
      Operands.push_back(Operand(I, Info.Operands[I]));
    define(X, 0, computeOperation(S.Operation, Operands));
    break;
  }
  default:
    break;
  }
  return Error::success();
}

Error SuperblockRun::run(state::StateCursor &Cursor,
                         ArrayRef<uint8_t> Definition) {
  Expected<bytecode::BytecodeReader> Reader =
      bytecode::BytecodeReader::create(Definition);
  if (!Reader)
    return Reader.takeError();
  Temps.resize(Reader->header().Temps);
  Definitions.resize(Reader->header().Temps);
  uint32_t Instructions = 0, Exits = 0;
  Step X;
  while (Reader->next(X.S)) {
    if (X.S.Opcode == CH_OP_INSTRUCTION) {
      if (Instructions == Item.Passed)
        break;
      X.Instruction = Instructions++;
      applyOutside(Cursor, X.Instruction, /*AtSwap=*/false);
    }
    // Side exits before the one that was taken were not.
    if ((X.S.Opcode == CH_OP_EXIT || X.S.Opcode == CH_OP_NEXT) &&
        !Item.Faults && ++Exits == Item.Ordinal) {
      Steps.push_back(X);
      break;
    }
    X.Place = 0;
    X.Taken = true;
    if (Error E = execute(X, Cursor))
      return E;
    for (unsigned I = 0; I < X.S.Defines; ++I)
      Definitions[X.S.FirstTemp + I] = uint32_t(Steps.size());
    Steps.push_back(X);
  }
  return Reader->takeError();
}

Expected<std::optional<SuperblockRun>>
SuperblockRun::create(state::StateCache &States, const code::CodeTable &Code,
                      BlockNumber N, Timestamp T) {
  Expected<std::shared_ptr<const Block>> B = States.block(N);
  if (!B)
    return B.takeError();
  SuperblockRun Run;
  code::ExecutionWalk Walk(Code, States.reader(), **B);
  while (true) {
    Expected<bool> More = Walk.next(Run.Item);
    if (!More)
      return More.takeError();
    if (!*More || Run.Item.Time > T)
      return std::nullopt;
    if (T - Run.Item.Time < Run.Item.Passed)
      break;
  }
  if (Error E = Walk.addFacts(Run.Item))
    return E;
  Expected<state::StateCursor> Cursor = States.in(N, Run.Item.Time);
  if (!Cursor)
    return Cursor.takeError();
  const uint8_t *State = Cursor->replayer().state(Run.Item.Thread);
  if (!State || Cursor->replayer().executions() != Run.Item.Index)
    return createStringError(
        formatv("replay of block {0} does not come to the instruction at {1}; "
                "'chronicle verify' lists all mismatches",
                N, T));
  std::memcpy(Run.State.data(), State, Run.State.size());
  Run.Opaque =
      Cursor->block().Opaque.take_back(Cursor->replayer().opaqueLeft());
  if (Error E = Run.run(*Cursor,
                        States.reader().definition(Run.Item.Superblock).Bytes))
    return E;
  if (Error E = Cursor->memory().takeError())
    return E;
  return Run;
}

} // namespace chronicle::origins
