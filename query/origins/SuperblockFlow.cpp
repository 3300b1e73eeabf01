// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/origins/SuperblockFlow.h"
#include "query/origins/ByteFlow.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace chronicle::origins {

using bytecode::typeSize;
using Step = SuperblockRun::Step;

SmallVector<FlowWrite, 2> SuperblockFlow::writesOf(uint32_t Statement) const {
  const Step &X = Run.steps()[Statement];
  const bytecode::Statement &S = X.S;
  const uint32_t Size = typeSize(S.Type);
  auto Registers = [&](uint32_t Bytes, std::optional<bytecode::Atom> A) {
    return FlowWrite{{false, X.Place, Bytes, Run.thread()}, A, S.Type};
  };
  auto Memory = [&](uint64_t Address, uint32_t Bytes,
                    std::optional<bytecode::Atom> A) {
    return FlowWrite{{true, Address, Bytes, Run.thread()}, A, S.Type};
  };
  if (!X.Taken)
    return {};
  switch (S.Opcode) {
  case CH_OP_PUT:
    return {Registers(Size, S.Atoms[0])};
  case CH_OP_PUT_INDEXED:
    return {Registers(Size, S.Atoms[1])};
  case CH_OP_OPAQUE_REGISTERS:
    return {Registers(S.Size, std::nullopt)};
  case CH_OP_STORE:
    return {Memory(X.Place, Size, S.Atoms[1])};
  case CH_OP_STORE_GUARDED:
    return {Memory(X.Place, Size, S.Atoms[2])};
  case CH_OP_OPAQUE_MEMORY:
    return {Memory(X.Place, S.Size, std::nullopt)};
  case CH_OP_CAS:
    if (S.Double)
      return {Memory(X.Place, Size, S.Atoms[2]),
              Memory(X.Place + Size, Size, S.Atoms[4])};
    return {Memory(X.Place, Size, S.Atoms[2])};
  default:
    return {};
  }
}

std::optional<FlowWrite> SuperblockFlow::writeTo(const answers::ValuePlace &P,
                                                 uint32_t Statement) const {
  for (const FlowWrite &W : writesOf(Statement))
    if (W.To.InMemory == P.InMemory && P.Address - W.To.Address < W.To.Size)
      return W;
  return std::nullopt;
}

static FlowPiece made(FlowPiece::Kind What, uint32_t Statement) {
  FlowPiece P;
  P.Size = 1;
  P.What = What;
  P.Statement = Statement;
  return P;
}

/// A byte that the statement reads.
FlowPiece SuperblockFlow::read(uint32_t Statement, uint32_t Byte,
                               bool &Extended) const {
  const Step &X = Run.steps()[Statement];
  FlowPiece P = made(FlowPiece::Place, Statement);
  const bool InMemory =
      X.S.Opcode != CH_OP_GET && X.S.Opcode != CH_OP_GET_INDEXED;
  if (X.S.Opcode == CH_OP_LOAD_GUARDED) {
    const unsigned Bytes = bytecode::conversionBytes(X.S.Conversion);
    Extended |= Byte >= Bytes;
    if (Byte >= Bytes && X.S.Conversion != CH_LOAD_16S_32 &&
        X.S.Conversion != CH_LOAD_8S_32)
      return made(FlowPiece::Constant, Statement);
    Byte = std::min(Byte, Bytes - 1);
  }
  P.From = {InMemory, X.Place + Byte, 1, Run.thread()};
  return P;
}

/// Whether the byte is zero whatever the registers and the memory hold.
bool SuperblockFlow::isZero(const bytecode::Atom &A, ch_type Type,
                            uint32_t Byte) const {
  if (!A.IsTemp)
    return Run.value(A, Type)[Byte] == 0;
  // What puts a value together from parts is not nested deeper, but a chain of
  // exclusive ors may be, and each looks at both of its operands.
  constexpr unsigned Deepest = 4;
  if (Depth == Deepest)
    return false;
  ++Depth;
  bool Extended = false;
  const FlowPiece P = byteOf(A, Type, Byte, 0, Extended);
  --Depth;
  return P.What == FlowPiece::Constant && Run.value(A, Type)[Byte] == 0;
}

namespace {
/// What an operation on bits does to each byte, by its name.
enum class Bits { None, And, Or, Xor, ShiftLeft, ShiftRight, Permute };
} // namespace

static Bits bitsOf(StringRef Name) {
  if (Name.starts_with("PermOrZero8"))
    return Bits::Permute;
  // "And8", "AndV128": not "Add8x8" and not "Or1".
  auto Is = [&](StringRef Stem) {
    StringRef Rest = Name;
    return Rest.consume_front(Stem) &&
           (Rest == "8" || Rest == "16" || Rest == "32" || Rest == "64" ||
            Rest == "V128" || Rest == "V256");
  };
  if (Is("And"))
    return Bits::And;
  if (Is("Or"))
    return Bits::Or;
  if (Is("Xor"))
    return Bits::Xor;
  if (Is("Shl"))
    return Bits::ShiftLeft;
  if (Is("Shr"))
    return Bits::ShiftRight;
  return Bits::None;
}

/// Of operations that move whole bytes if one operand is a constant, or if some
/// bytes of an operand are always zero: masks, shifts, and what puts a value
/// together from parts.
FlowPiece SuperblockFlow::byteOfBits(const Step &X, uint32_t Byte,
                                     uint32_t Statement, bool &Extended) const {
  const bytecode::OperationInfo &Info = bytecode::operationInfo(X.S.Operation);
  const uint32_t Defined = Run.definition(X.S.FirstTemp);
  const bytecode::Atom &A = X.S.Atoms[0], &B = X.S.Atoms[1];
  const ch_type Type = Info.Operands[0];
  auto Of = [&](const bytecode::Atom &Operand, uint32_t From) {
    return byteOf(Operand, Type, From, Statement, Extended);
  };
  const FlowPiece Zero = made(FlowPiece::Constant, Defined);
  const Bits What = bitsOf(Info.Name);
  if (What == Bits::And || What == Bits::Or || What == Bits::Xor) {
    for (bool Swap : {false, true}) {
      const bytecode::Atom &Value = Swap ? B : A, &Mask = Swap ? A : B;
      const uint8_t Keeps = What == Bits::And ? 0xff : 0;
      if (!Mask.IsTemp && Run.value(Mask, Type)[Byte] == Keeps)
        return Of(Value, Byte);
      if (What == Bits::And ? isZero(Mask, Type, Byte) : false) {
        Extended = true;
        return Zero;
      }
      if (What != Bits::And && Mask.IsTemp && isZero(Mask, Type, Byte))
        return Of(Value, Byte);
    }
    return made(FlowPiece::Computed, Defined);
  }
  if (What == Bits::ShiftLeft || What == Bits::ShiftRight) {
    if (B.IsTemp)
      return made(FlowPiece::Computed, Defined);
    // Bytes that are shifted in as a whole are zero, whatever the rest is.
    const auto By = unsigned(B.Constant & 0xff);
    const bool ShiftedIn = What == Bits::ShiftLeft
                               ? Byte < By / 8
                               : Byte + By / 8 >= typeSize(Info.Result);
    if (By % 8 && !ShiftedIn)
      return made(FlowPiece::Computed, Defined);
    const int64_t From = What == Bits::ShiftLeft ? int64_t(Byte) - By / 8
                                                 : int64_t(Byte) + By / 8;
    if (From >= 0 && From < typeSize(Info.Result))
      return Of(A, uint32_t(From));
    Extended = true;
    return Zero;
  }
  if (What == Bits::Permute) {
    // The control chooses, as the condition of a conditional move does.
    const uint8_t Control = Run.value(B, Type)[Byte];
    if (!(Control & 0x80)) {
      chosenBy(Defined, 1, Byte);
      return Of(A, Control & (typeSize(Info.Result) - 1));
    }
    Extended = true;
    return Zero;
  }
  return made(FlowPiece::Computed, Defined);
}

FlowPiece SuperblockFlow::byteOfOperation(const Step &X, uint32_t Byte,
                                          uint32_t Statement,
                                          bool &Extended) const {
  const bytecode::OperationInfo &Info = bytecode::operationInfo(X.S.Operation);
  const ByteSource &Source = byteFlow(X.S.Operation)[Byte];
  const uint32_t Defined = Run.definition(X.S.FirstTemp);
  switch (Source.What) {
  case ByteSource::Computed:
    return byteOfBits(X, Byte, Statement, Extended);
  case ByteSource::Zero:
    Extended = true;
    return made(FlowPiece::Constant, Defined);
  case ByteSource::Sign:
    Extended = true;
    [[fallthrough]];
  case ByteSource::Copy:
    return byteOf(X.S.Atoms[Source.Operand], Info.Operands[Source.Operand],
                  Source.Byte, Statement, Extended);
  }
  llvm_unreachable("no such source");
}

FlowPiece SuperblockFlow::byteOf(const bytecode::Atom &A, ch_type Type,
                                 uint32_t Byte, uint32_t Statement,
                                 bool &Extended) const {
  if (!A.IsTemp)
    return made(FlowPiece::Constant, Statement);
  const uint32_t Defined = Run.definition(A.Temp);
  const Step &X = Run.steps()[Defined];
  switch (X.S.Opcode) {
  case CH_OP_GET:
  case CH_OP_GET_INDEXED:
  case CH_OP_LOAD:
    return read(Defined, Byte, Extended);
  case CH_OP_LOAD_GUARDED: {
    const FlowPiece P = X.Taken ? read(Defined, Byte, Extended)
                                : byteOf(X.S.Atoms[2], X.S.DefinedType, Byte,
                                         Defined, Extended);
    if (!X.Taken || P.What == FlowPiece::Place)
      chosenBy(Defined, 0, 0);
    return P;
  }
  case CH_OP_CAS: {
    const uint32_t Part = A.Temp - X.S.FirstTemp;
    return read(Defined, Byte + Part * typeSize(X.S.Type), Extended);
  }
  case CH_OP_COPY:
    return byteOf(X.S.Atoms[0], X.S.Type, Byte, Defined, Extended);
  case CH_OP_ITE:
    chosenBy(Defined, 0, 0);
    return byteOf(X.S.Atoms[X.Taken ? 1 : 2], X.S.Type, Byte, Defined,
                  Extended);
  case CH_OP_OPAQUE:
    return made(FlowPiece::Helper, Defined);
  case CH_OP_FIRST:
    return byteOfOperation(X, Byte, Defined, Extended);
  default:
    return made(FlowPiece::Computed, Defined);
  }
}

/// Whether the piece goes on with the next byte.
static bool continues(const FlowPiece &P, const FlowPiece &Next) {
  if (P.What != Next.What)
    return false;
  if (P.What == FlowPiece::Constant)
    return true;
  if (P.Statement != Next.Statement)
    return false;
  return P.What != FlowPiece::Place ||
         (P.From.InMemory == Next.From.InMemory &&
          P.From.Address + P.Size == Next.From.Address);
}

std::vector<FlowPiece> SuperblockFlow::collect(const bytecode::Atom &A,
                                               ch_type Type, uint32_t First,
                                               uint32_t Size,
                                               uint32_t Statement) const {
  std::vector<FlowPiece> Own, Added;
  for (uint32_t I = 0; I < Size; ++I) {
    bool Extended = false;
    FlowPiece P = byteOf(A, Type, First + I, Statement, Extended);
    P.First = I;
    std::vector<FlowPiece> &To = Extended ? Added : Own;
    if (!To.empty() && To.back().First + To.back().Size == I &&
        continues(To.back(), P) &&
        (!Choices || P.Statement == To.back().Statement)) {
      ++To.back().Size;
      ++To.back().From.Size;
    } else {
      To.push_back(P);
    }
  }
  return Own.empty() ? std::move(Added) : std::move(Own);
}

std::vector<FlowPiece> SuperblockFlow::pieces(const bytecode::Atom &A,
                                              ch_type Type, uint32_t First,
                                              uint32_t Size,
                                              uint32_t Statement) const {
  std::vector<FlowPiece> Result = collect(A, Type, First, Size, Statement);
  // A number of which a part is computed is computed as a whole. Only vectors
  // have lanes.
  auto IsMade = [](const FlowPiece &P) {
    return P.What == FlowPiece::Computed;
  };
  if (auto It = find_if(Result, IsMade);
      It != Result.end() && typeSize(Type) <= 8 && Result.size() > 1) {
    FlowPiece Whole = *It;
    Whole.First = 0;
    Whole.Size = Size;
    return {Whole};
  }
  return Result;
}

std::vector<uint8_t> SuperblockFlow::valueOf(const FlowPiece &P) const {
  const Step &X = Run.steps()[P.Statement];
  // A double compare-and-swap reads two values.
  const uint64_t Size =
      X.S.Opcode == CH_OP_CAS ? typeSize(X.S.Type) : sizeof(TempValue);
  std::vector<uint8_t> Value;
  for (uint64_t I = 0; I < P.From.Size; ++I) {
    const uint64_t At = P.From.Address - X.Place + I;
    bytecode::Atom A;
    A.IsTemp = true;
    A.Temp = X.S.FirstTemp + uint32_t(At / Size);
    Value.push_back(Run.value(A, X.S.DefinedType)[At % Size]);
  }
  return Value;
}

void SuperblockFlow::addOperands(
    const bytecode::Atom &A, ch_type Type, uint32_t Instruction,
    uint32_t Before, unsigned Depth,
    std::vector<answers::OriginStep::Operand> &To) const {
  constexpr unsigned Deepest = 64;
  if (!A.IsTemp || Depth > Deepest)
    return;
  const uint32_t Defined = Run.definition(A.Temp);
  const Step &X = Run.steps()[Defined];
  auto Add = [&](answers::ValuePlace P) {
    if (any_of(To, [&](const answers::OriginStep::Operand &O) {
          return O.Place.InMemory == P.InMemory &&
                 O.Place.Address == P.Address && O.Place.Size == P.Size;
        }))
      return;
    const TempValue V = Run.value(A, Type);
    To.push_back({P, ArrayRef(V).take_front(P.Size).vec()});
  };
  switch (X.S.Opcode) {
  case CH_OP_GET:
  case CH_OP_GET_INDEXED:
    return Add({false, X.Place, typeSize(X.S.Type), Run.thread()});
  case CH_OP_LOAD:
  case CH_OP_CAS:
    return Add({true, X.Place, typeSize(X.S.Type), Run.thread()});
  case CH_OP_LOAD_GUARDED:
    if (X.Taken)
      return Add({true, X.Place, bytecode::conversionBytes(X.S.Conversion),
                  Run.thread()});
    return addOperands(X.S.Atoms[2], X.S.DefinedType, Instruction, Defined,
                       Depth + 1, To);
  default:
    break;
  }
  // The result of an earlier instruction is in the register that it wrote.
  if (X.Instruction != Instruction)
    for (uint32_t I = Defined; I < Before; ++I) {
      const Step &Put = Run.steps()[I];
      if (Put.S.Opcode == CH_OP_PUT && Put.S.Atoms[0].IsTemp &&
          Put.S.Atoms[0].Temp == A.Temp)
        return Add({false, Put.Place, typeSize(Put.S.Type), Run.thread()});
    }
  for (unsigned I = 0; I < X.S.AtomCount; ++I)
    addOperands(X.S.Atoms[I],
                X.S.Opcode == CH_OP_FIRST
                    ? bytecode::operationInfo(X.S.Operation).Operands[I]
                : X.S.Opcode == CH_OP_ITE && I == 0 ? CH_I1
                : X.S.Opcode == CH_OP_CALL          ? CH_I64
                                                    : X.S.Type,
                Instruction, Defined, Depth + 1, To);
}

std::vector<answers::OriginStep::Operand>
SuperblockFlow::operands(uint32_t Statement) const {
  const Step &X = Run.steps()[Statement];
  std::vector<answers::OriginStep::Operand> Result;
  for (unsigned I = 0; I < X.S.AtomCount; ++I)
    addOperands(X.S.Atoms[I],
                X.S.Opcode == CH_OP_FIRST
                    ? bytecode::operationInfo(X.S.Operation).Operands[I]
                    : CH_I64,
                X.Instruction, Statement, 0, Result);
  return Result;
}

} // namespace chronicle::origins
