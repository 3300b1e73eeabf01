// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/replay/program/ProgramAnalysis.h"
#include "query/replay/operations/Helpers.h"
#include "trace-format/GuestState.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <array>

using namespace llvm;

namespace chronicle::program {

namespace {

constexpr unsigned OperationCount = 0
#define CH_REPLAY_OP(Name, Result, Arity, A, B, C, D) +1
#include "trace-format/ReplayOps.def"
#undef CH_REPLAY_OP
    ;

/// Where the result starts in the operand, for operations that only name bytes
/// of it; -1 for the others.
constexpr int namedBytes(Operation Op) {
  switch (Op) {
  case Operation::Op_64to8:
  case Operation::Op_32to8:
  case Operation::Op_64to16:
  case Operation::Op_16to8:
  case Operation::Op_32to16:
  case Operation::Op_64to32:
  case Operation::Op_128to64:
  case Operation::Op_ReinterpF64asI64:
  case Operation::Op_ReinterpI64asF64:
  case Operation::Op_ReinterpF32asI32:
  case Operation::Op_ReinterpI32asF32:
  case Operation::Op_V128to64:
  case Operation::Op_V128to32:
  case Operation::Op_V256to64_0:
  case Operation::Op_V256toV128_0:
    return 0;
  case Operation::Op_16HIto8:
    return 1;
  case Operation::Op_32HIto16:
    return 2;
  case Operation::Op_64HIto32:
    return 4;
  case Operation::Op_128HIto64:
  case Operation::Op_V128HIto64:
  case Operation::Op_V256to64_1:
    return 8;
  case Operation::Op_V256to64_2:
  case Operation::Op_V256toV128_1:
    return 16;
  case Operation::Op_V256to64_3:
    return 24;
  default:
    return -1;
  }
}

constexpr auto NamedBytes = [] {
  std::array<int8_t, OperationCount> Table{};
  for (unsigned N = 0; N < OperationCount; ++N)
    Table[N] = static_cast<int8_t>(namedBytes(static_cast<Operation>(N)));
  return Table;
}();

bool isOperation(const bytecode::Statement &S, Operation Op) {
  return S.Opcode == CH_OP_FIRST && S.Operation == static_cast<uint32_t>(Op);
}

/// Whether the operation only adds zeros.
constexpr bool extends(Operation Op) {
  switch (Op) {
  case Operation::Op_1Uto8:
  case Operation::Op_1Uto32:
  case Operation::Op_1Uto64:
  case Operation::Op_8Uto16:
  case Operation::Op_8Uto32:
  case Operation::Op_8Uto64:
  case Operation::Op_16Uto32:
  case Operation::Op_16Uto64:
  case Operation::Op_32Uto64:
    return true;
  default:
    return false;
  }
}

constexpr auto Extends = [] {
  std::array<bool, OperationCount> Table{};
  for (unsigned N = 0; N < OperationCount; ++N)
    Table[N] = extends(static_cast<Operation>(N));
  return Table;
}();

/// Whether the statement calls a helper that returns 0 or 1. Then 64to1 of the
/// result is its lowest byte.
bool returnsBit(const bytecode::Statement &S) {
  if (S.Opcode != CH_OP_CALL)
    return false;
  operations::Helper H = operations::helper(S.Helper);
  return H == operations::helpers::amd64g_calculate_condition ||
         H == operations::helpers::amd64g_calculate_rflags_c;
}

/// Whether the interpreter extends the result to 8 bytes.
bool writesExtended(const bytecode::Statement &S) {
  return (S.Opcode == CH_OP_FIRST || S.Opcode == CH_OP_LOAD ||
          S.Opcode == CH_OP_ITE) &&
         bytecode::typeSize(S.DefinedType) <= 8;
}

/// Opcodes that do nothing but define a temp.
constexpr uint64_t OnlyDefine =
    uint64_t(1) << CH_OP_GET | uint64_t(1) << CH_OP_GET_INDEXED |
    uint64_t(1) << CH_OP_LOAD | uint64_t(1) << CH_OP_LOAD_GUARDED |
    uint64_t(1) << CH_OP_ITE | uint64_t(1) << CH_OP_CALL |
    uint64_t(1) << CH_OP_COPY | uint64_t(1) << CH_OP_FIRST;

/// Of those, the ones that read memory.
constexpr uint64_t Loads =
    uint64_t(1) << CH_OP_LOAD | uint64_t(1) << CH_OP_LOAD_GUARDED;

/// A set of guest-state bytes.
class StateBytes {
public:
  void setAll() { std::fill(std::begin(Words), std::end(Words), ~0ull); }
  void set(uint32_t First, uint32_t End) {
    visit(First, End, [](uint64_t &Word, uint64_t Mask) { Word |= Mask; });
  }
  void reset(uint32_t First, uint32_t End) {
    visit(First, End, [](uint64_t &Word, uint64_t Mask) { Word &= ~Mask; });
  }
  bool any(uint32_t First, uint32_t End) {
    uint64_t Found = 0;
    visit(First, End,
          [&](uint64_t &Word, uint64_t Mask) { Found |= Word & Mask; });
    return Found;
  }

private:
  template <class Work> void visit(uint32_t First, uint32_t End, Work W) {
    while (First < End) {
      const uint32_t Bits = std::min(End - First, 64 - First % 64);
      W(Words[First / 64], (~0ull >> (64 - Bits)) << First % 64);
      First += Bits;
    }
  }
  uint64_t Words[(CH_GUEST_STATE_SIZE + 63) / 64] = {};
};

} // namespace

/// Where the statement's result is in its operand if it needs no operation, or
/// -1.
int ProgramAnalysis::aliasOffset(const bytecode::Statement &S) const {
  if (S.AtomCount != 1 || !S.Atoms[0].IsTemp)
    return -1;
  if (S.Opcode == CH_OP_COPY)
    return 0;
  if (S.Opcode != CH_OP_FIRST)
    return -1;
  const Temp &Source = Temps[S.Atoms[0].Temp];
  if (Extends[S.Operation])
    return Source.Extended ? 0 : -1;
  if (isOperation(S, Operation::Op_64to1) ||
      isOperation(S, Operation::Op_32to1)) {
    // A bit that was made wide and becomes narrow again.
    const bool IsBit = Source.Extended && Temps[Source.Root].Type == CH_I1;
    return IsBit || returnsBit(Steps[Source.Definition]) ? 0 : -1;
  }
  return NamedBytes[S.Operation];
}

/// Notes the temps that statement I defines.
inline void ProgramAnalysis::define(const Step &S, uint32_t I) {
  for (uint32_t N = S.FirstTemp; N < S.FirstTemp + S.Defines; ++N) {
    Temp &T = Temps[N];
    T = {S.DefinedType,    I, None, N, 0, 0, NoPlace, false, false,
         writesExtended(S)};
    if (S.Alias >= 0) {
      const Temp &Source = Temps[S.Atoms[0].Temp];
      T.Root = Source.Root;
      T.Extended =
          Source.Extended && S.Alias == 0 &&
          bytecode::typeSize(T.Type) >= bytecode::typeSize(Source.Type);
    }
  }
}

Error ProgramAnalysis::read(ArrayRef<uint8_t> Definition) {
  Expected<bytecode::BytecodeReader> Reader =
      bytecode::BytecodeReader::create(Definition);
  if (!Reader)
    return Reader.takeError();
  Header = Reader->header();
  // No statement defines more temps than it has bytes.
  if (Temps.size() < std::min<size_t>(Header.Temps, Definition.size()))
    Temps.resize(Definition.size());
  for (StepCount = 0;; ++StepCount) {
    if (StepCount == Steps.size())
      Steps.resize(2 * Steps.size() + 64);
    if (!Reader->next(Steps[StepCount]))
      return Reader->takeError();
    const uint32_t I = StepCount;
    Step &S = Steps[I];
    S.Displacement = 0;
    S.StateFirst = S.StateEnd = 0;
    S.Alias = static_cast<int8_t>(aliasOffset(S));
    S.Shift = 0;
    S.Indexed = S.Dead = false;
    for (unsigned N = 0; N < S.AtomCount; ++N)
      if (S.Atoms[N].IsTemp)
        ++Temps[S.Atoms[N].Temp].Uses;
    define(S, I);
    auto State = [&](uint32_t Size) {
      S.StateFirst = static_cast<uint16_t>(S.Offset);
      S.StateEnd = static_cast<uint16_t>(S.Offset + Size);
    };
    auto WritesState = [&](uint32_t Size) {
      State(Size);
      Writes.push_back({S.StateFirst, S.StateEnd, I, I});
    };
    switch (S.Opcode) {
    case CH_OP_INSTRUCTION:
      Lengths.push_back(static_cast<uint8_t>(S.Size));
      break;
    case CH_OP_GET:
      State(bytecode::typeSize(S.Type));
      break;
    case CH_OP_PUT:
      WritesState(bytecode::typeSize(S.Type));
      break;
    case CH_OP_GET_INDEXED:
      State(S.Elements * bytecode::typeSize(S.Type));
      break;
    case CH_OP_PUT_INDEXED:
      WritesState(S.Elements * bytecode::typeSize(S.Type));
      break;
    case CH_OP_OPAQUE_REGISTERS:
      WritesState(S.Size);
      break;
    case CH_OP_LOAD:
    case CH_OP_STORE:
      Accesses.push_back(I);
      if (S.Atoms[0].IsTemp)
        ++Temps[S.Atoms[0].Temp].AddressUses;
      break;
    case CH_OP_EXIT:
    case CH_OP_NEXT:
      Passed.push_back(static_cast<uint16_t>(Lengths.size()));
      break;
    case CH_OP_CALL:
      if (S.AtomCount < operations::helperArity(S.Helper))
        return createStringError("damaged replay program: too few arguments");
      break;
    }
  }
}

void ProgramAnalysis::foldAddresses() {
  auto Definition =
      [&](const bytecode::Atom &A) -> const bytecode::Statement & {
    return Steps[Temps[A.Temp].Definition];
  };
  for (uint32_t I : Accesses) {
    Step &S = Steps[I];
    bytecode::Atom Address = S.Atoms[0];
    if (!Address.IsTemp) {
      S.Displacement = Address.Constant;
      continue;
    }
    // A sum that is also needed elsewhere is computed anyway.
    const Temp &Outer = Temps[Address.Temp];
    bool Fold = Outer.Uses == Outer.AddressUses;
    const bytecode::Statement *Sum = &Definition(Address);
    if (Fold &&
        (isOperation(*Sum, Operation::Op_Add64) ||
         isOperation(*Sum, Operation::Op_Sub64)) &&
        Sum->Atoms[0].IsTemp && !Sum->Atoms[1].IsTemp) {
      const uint64_t Constant = Sum->Atoms[1].Constant;
      S.Displacement =
          isOperation(*Sum, Operation::Op_Sub64) ? 0 - Constant : Constant;
      Address = Sum->Atoms[0];
      // An inner sum must have one use only: the outer sum.
      Fold = Temps[Address.Temp].Uses == 1;
      Sum = &Definition(Address);
    }
    S.Atoms[0] = Address;
    if (!Fold || !isOperation(*Sum, Operation::Op_Add64) ||
        !Sum->Atoms[0].IsTemp || !Sum->Atoms[1].IsTemp ||
        bytecode::typeSize(S.Type) > 16 ||
        static_cast<int64_t>(S.Displacement) !=
            static_cast<int32_t>(S.Displacement))
      continue;
    bytecode::Atom Index = Sum->Atoms[1];
    const bytecode::Statement &Scaled = Definition(Index);
    if (isOperation(Scaled, Operation::Op_Shl64) && Scaled.Atoms[0].IsTemp &&
        !Scaled.Atoms[1].IsTemp && Scaled.Atoms[1].Constant < 64 &&
        Temps[Index.Temp].Uses == 1) {
      S.Shift = static_cast<uint8_t>(Scaled.Atoms[1].Constant);
      Index = Scaled.Atoms[0];
    }
    S.Indexed = true;
    S.Atoms[0] = Sum->Atoms[0];
    S.Atoms[S.AtomCount++] = Index;
  }
}

/// Notes a use. Statements are visited from the last to the first.
inline void ProgramAnalysis::use(const bytecode::Atom &A, uint32_t I) {
  if (!A.IsTemp)
    return;
  Temp &T = Temps[A.Temp], &Root = Temps[T.Root];
  if (T.LastUse == None)
    T.LastUse = I;
  if (Root.LastUse == None)
    Root.LastUse = I;
}

void ProgramAnalysis::findDead() {
  StateBytes Seen;
  for (uint32_t I = StepCount; I-- > 0;) {
    Step &S = Steps[I];
    if (OnlyDefine >> S.Opcode & 1 && Temps[S.FirstTemp].LastUse == None) {
      if (Form == ProgramForm::Fast || !(Loads >> S.Opcode & 1)) {
        S.Dead = true;
        continue;
      }
      Temps[S.FirstTemp].LastUse = I;
    }
    switch (S.Opcode) {
    case CH_OP_INSTRUCTION:
      if (Form == ProgramForm::Exact)
        Seen.setAll();
      break;
    case CH_OP_EXIT:
    case CH_OP_NEXT:
      Seen.setAll();
      break;
    case CH_OP_GET:
    case CH_OP_GET_INDEXED:
      Seen.set(S.StateFirst, S.StateEnd);
      break;
    case CH_OP_PUT:
      if (!Seen.any(S.StateFirst, S.StateEnd)) {
        S.Dead = true;
        continue;
      }
      Seen.reset(S.StateFirst, S.StateEnd);
      break;
    case CH_OP_OPAQUE_REGISTERS:
      Seen.reset(S.StateFirst, S.StateEnd);
      break;
    }
    for (unsigned N = 0; N < S.AtomCount; ++N)
      use(S.Atoms[N], I);
  }
}

bool ProgramAnalysis::isOverwritten(uint32_t First, uint32_t End, uint32_t From,
                                    uint32_t To, uint32_t Except) const {
  return any_of(Writes, [&](const Write &W) {
    return W.First < End && First < W.End && W.Time > From && W.Time < To &&
           W.Statement != Except;
  });
}

bool ProgramAnalysis::canSink(const Step &Put, uint32_t I) {
  if (!Put.Atoms[0].IsTemp)
    return false;
  const Temp &Named = Temps[Put.Atoms[0].Temp], &T = Temps[Named.Root];
  const bytecode::Statement &S = Steps[T.Definition];
  const uint32_t First = Put.StateFirst, End = Put.StateEnd;
  if (T.Sunk || S.Defines != 1 || S.Opcode == CH_OP_GET ||
      S.Opcode == CH_OP_CAS || S.Opcode == CH_OP_COPY)
    return false;
  // What the interpreter writes must be what the PUT wants.
  if (T.Extended ? End - First != 8 || !Named.Extended
                 : Named.Root != Put.Atoms[0].Temp)
    return false;
  const uint32_t From = T.Definition;
  for (uint32_t J = From + 1; J < I; ++J) {
    const Step &Between = Steps[J];
    if (Between.Dead)
      continue;
    if (Between.Opcode == CH_OP_EXIT ||
        (Between.Opcode == CH_OP_INSTRUCTION && Form == ProgramForm::Exact) ||
        Between.touches(First, End))
      return false;
  }
  if (isOverwritten(First, End, From, T.LastUse, I))
    return false;
  return none_of(Residents, [&](const Resident &R) {
    return R.First < End && First < R.End && R.From < From && R.To > From;
  });
}

void ProgramAnalysis::sinkResults() {
  erase_if(Writes, [&](const Write &W) { return Steps[W.Statement].Dead; });
  for (Write &W : Writes) {
    const Step &Put = Steps[W.Statement];
    if (Put.Opcode != CH_OP_PUT || !canSink(Put, W.Statement))
      continue;
    Temp &T = Temps[Temps[Put.Atoms[0].Temp].Root];
    T.Sunk = true;
    T.Place = Put.StateFirst;
    W.Time = T.Definition;
    Residents.push_back({W.First, W.End, T.Definition, T.LastUse});
  }
}

Error ProgramAnalysis::analyze(ArrayRef<uint8_t> Definition, ProgramForm F) {
  Form = F;
  Accesses.clear();
  Writes.clear();
  Residents.clear();
  Passed.clear();
  Lengths.clear();
  if (Error E = read(Definition))
    return E;
  foldAddresses();
  findDead();
  sinkResults();
  return Error::success();
}

} // namespace chronicle::program
