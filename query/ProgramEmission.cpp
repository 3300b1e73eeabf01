// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last step of a ProgramBuilder: places for temps, and the operations.

#include "query/ProgramBuilder.h"
#include "trace-format/GuestState.h"
#include <algorithm>

using namespace llvm;

namespace chronicle {

/// Index into Const1.., Copy1.. and so on.
static unsigned widthIndex(unsigned Size) {
  switch (Size) {
  case 1:
    return 0;
  case 2:
    return 1;
  case 4:
    return 2;
  case 8:
    return 3;
  case 16:
    return 4;
  default:
    return 5;
  }
}
static Code sized(Code First, unsigned Size) {
  return static_cast<Code>(static_cast<unsigned>(First) + widthIndex(Size));
}

uint16_t ProgramBuilder::allocate(unsigned Size) {
  unsigned Class = Size <= 8 ? 0 : Size <= 16 ? 1 : 2;
  if (!Free[Class].empty()) {
    uint16_t Place = Free[Class].back();
    Free[Class].pop_back();
    return Place;
  }
  uint32_t Place = NextPlace;
  NextPlace += 8u << Class;
  // Checked at the end: emitAll fails if the frame is too small.
  return static_cast<uint16_t>(Place);
}

void ProgramBuilder::release(uint16_t Place, unsigned Size) {
  Free[Size <= 8 ? 0 : Size <= 16 ? 1 : 2].push_back(Place);
}

ReplayOp &ProgramBuilder::add(Code C, uint16_t Dst, uint16_t A, uint16_t B) {
  ReplayOp Op;
  Op.Code = static_cast<uint16_t>(C);
  Op.Dst = Dst;
  Op.A = A;
  Op.B = B;
  Op.Imm = 0;
  Ops.push_back(Op);
  return Ops.back();
}

void ProgramBuilder::constant(uint16_t To, ch_type Type, uint64_t Value) {
  if (Type == CH_I1)
    Value &= 1;
  add(sized(Code::Const1, typeSize(Type)), To).Imm = Value;
}

uint16_t ProgramBuilder::place(const Atom &A, ch_type Type) {
  if (A.IsTemp)
    return Temps[A.Temp].Place;
  if (A.Constant == 0)
    return FrameZero;
  uint16_t Place = allocate(typeSize(Type));
  Scratch.push_back({Place, typeSize(Type)});
  constant(Place, Type, A.Constant);
  return Place;
}

uint16_t ProgramBuilder::placeResult(uint32_t Number) {
  Temp &T = Temps[Number];
  if (T.Sunk)
    return T.Place;
  T.Place = allocate(typeSize(T.Type));
  T.OwnsPlace = true;
  return T.Place;
}

void ProgramBuilder::emit(uint32_t I) {
  const Step &S = Steps[I];
  const unsigned Size = typeSize(S.Type);
  auto Operand = [&](unsigned N, ch_type Type) {
    return place(S.Atoms[N], Type);
  };
  switch (S.Opcode) {
  case CH_OP_INSTRUCTION:
    if (Form == ProgramForm::Exact)
      add(Code::Instruction, 0, static_cast<uint16_t>(InstructionsSeen));
    ++InstructionsSeen;
    break;
  case CH_OP_GET: {
    Temp &T = Temps[S.FirstTemp];
    if (!isOverwritten(S.StateFirst, S.StateEnd, I, T.LastUse, None)) {
      T.Place = static_cast<uint16_t>(S.Offset);
      break;
    }
    uint16_t To = placeResult(S.FirstTemp);
    add(sized(Code::Copy1, Size), To, static_cast<uint16_t>(S.Offset));
    break;
  }
  case CH_OP_PUT: {
    const Atom &A = S.Atoms[0];
    const uint16_t To = static_cast<uint16_t>(S.Offset);
    if (!A.IsTemp)
      constant(To, S.Type, A.Constant);
    else if (Temps[A.Temp].Place != To)
      add(sized(Code::Copy1, Size), To, Temps[A.Temp].Place);
    break;
  }
  case CH_OP_GET_INDEXED:
  case CH_OP_PUT_INDEXED: {
    const bool IsGet = S.Opcode == CH_OP_GET_INDEXED;
    uint16_t Index = Operand(0, CH_I32);
    uint16_t Value = IsGet ? placeResult(S.FirstTemp) : Operand(1, S.Type);
    ReplayOp &Op = add(IsGet ? Code::GetIndexed : Code::PutIndexed, Value,
                       Index, static_cast<uint16_t>(S.Offset));
    Op.C = static_cast<uint16_t>(S.Elements);
    Op.D = static_cast<uint16_t>(Size);
    Op.Bias = S.Bias;
    break;
  }
  case CH_OP_LOAD:
  case CH_OP_STORE:
    emitAccess(I);
    break;
  case CH_OP_STORE_GUARDED: {
    uint16_t Guard = Operand(0, CH_I1), Address = Operand(1, CH_I64),
             Value = Operand(2, S.Type);
    add(Code::StoreGuarded, Guard, Address, Value).C =
        static_cast<uint16_t>(Size);
    break;
  }
  case CH_OP_LOAD_GUARDED: {
    uint16_t Guard = Operand(0, CH_I1), Address = Operand(1, CH_I64),
             Other = Operand(2, S.Type);
    ReplayOp &Op =
        add(Code::LoadGuarded, placeResult(S.FirstTemp), Guard, Address);
    Op.C = Other;
    Op.D = S.Conversion;
    break;
  }
  case CH_OP_CAS: {
    uint16_t Address = Operand(0, CH_I64), Expected = Operand(1, S.Type),
             Data = Operand(2, S.Type), ExpectedHigh = 0, DataHigh = 0;
    if (S.Double) {
      ExpectedHigh = Operand(3, S.Type);
      DataHigh = Operand(4, S.Type);
    }
    {
      ReplayOp &Op = add(S.Double ? Code::CasDouble : Code::Cas,
                         placeResult(S.FirstTemp), Address, Expected);
      Op.C = Data;
      Op.D = static_cast<uint16_t>(Size);
    }
    if (S.Double)
      add(Code::CasDouble, placeResult(S.FirstTemp + 1), 0, ExpectedHigh).C =
          DataHigh;
    break;
  }
  case CH_OP_ITE: {
    uint16_t Condition = Operand(0, CH_I1), Then = Operand(1, S.Type),
             Else = Operand(2, S.Type);
    add(sized(Code::Ite1, Size), placeResult(S.FirstTemp), Condition, Then).C =
        Else;
    break;
  }
  case CH_OP_CALL: {
    uint16_t Arguments[5] = {FrameZero, FrameZero, FrameZero, FrameZero,
                             FrameZero};
    for (unsigned N = 0; N < std::min<unsigned>(S.AtomCount, 5); ++N)
      Arguments[N] = Operand(N, CH_I64);
    ReplayOp &Op =
        add(Code::Call, placeResult(S.FirstTemp), Arguments[0], Arguments[1]);
    Op.C = Arguments[2];
    Op.D = Arguments[3];
    Op.E = Arguments[4];
    Op.F = static_cast<uint16_t>(S.Helper | Size << 8);
    break;
  }
  case CH_OP_OPAQUE:
    if (Temps[S.FirstTemp].LastUse == None)
      add(Code::SkipOpaque, 0, static_cast<uint16_t>(Size));
    else
      add(Code::Opaque, placeResult(S.FirstTemp), static_cast<uint16_t>(Size));
    break;
  case CH_OP_OPAQUE_REGISTERS:
    add(Code::Opaque, static_cast<uint16_t>(S.Offset),
        static_cast<uint16_t>(S.Size));
    break;
  case CH_OP_OPAQUE_MEMORY: {
    uint16_t Guard = Operand(0, CH_I1), Address = Operand(1, CH_I64);
    add(Code::OpaqueMemory, 0, Guard, Address).C =
        static_cast<uint16_t>(S.Size);
    break;
  }
  case CH_OP_EXIT: {
    uint16_t Guard = Operand(0, CH_I1);
    uint16_t Ordinal = static_cast<uint16_t>(++ExitsSeen);
    if (!S.Atoms[1].IsTemp)
      fuseExit(S.Atoms[0], I);
    if (S.Atoms[1].IsTemp)
      add(Code::ExitComputed, 0, Guard, Ordinal).C =
          Temps[S.Atoms[1].Temp].Place;
    else
      add(Code::Exit, 0, Guard, Ordinal).Imm = S.Atoms[1].Constant;
    break;
  }
  case CH_OP_NEXT: {
    const Atom &A = S.Atoms[0];
    add(Code::Next, 0, A.IsTemp ? Temps[A.Temp].Place : uint16_t(FrameZero),
        static_cast<uint16_t>(++ExitsSeen))
        .Imm = A.IsTemp ? 0 : A.Constant;
    break;
  }
  case CH_OP_STACK_POINTER: // replay computes it
    break;
  case CH_OP_COPY:
  case CH_OP_FIRST: {
    if (S.Alias >= 0) {
      Temps[S.FirstTemp].Place =
          static_cast<uint16_t>(Temps[S.Atoms[0].Temp].Place + S.Alias);
      break;
    }
    if (S.Opcode == CH_OP_COPY) {
      constant(placeResult(S.FirstTemp), S.Type, S.Atoms[0].Constant);
      break;
    }
    const OperationInfo &Info = operationInfo(S.Operation);
    if (Info.Arity == 2 && !S.Atoms[1].IsTemp &&
        typeSize(Info.Operands[1]) <= 8) {
      uint16_t Left = Operand(0, Info.Operands[0]);
      uint64_t Right = S.Atoms[1].Constant;
      if (Info.Operands[1] == CH_I1)
        Right &= 1;
      add(static_cast<Code>(immediateCode(S.Operation)),
          placeResult(S.FirstTemp), Left)
          .Imm = Right;
      break;
    }
    uint16_t Places[4] = {0, 0, 0, 0};
    for (unsigned N = 0; N < Info.Arity; ++N)
      Places[N] = Operand(N, Info.Operands[N]);
    ReplayOp &Op = add(static_cast<Code>(operationCode(S.Operation)),
                       placeResult(S.FirstTemp), Places[0], Places[1]);
    Op.C = Places[2];
    Op.D = Places[3];
    break;
  }
  }
}

void ProgramBuilder::emitAccess(uint32_t I) {
  const Step &S = Steps[I];
  const unsigned Size = typeSize(S.Type);
  const bool IsLoad = S.Opcode == CH_OP_LOAD;
  const uint16_t Base =
      S.Atoms[0].IsTemp ? Temps[S.Atoms[0].Temp].Place : uint16_t(FrameZero);
  const uint16_t Value =
      IsLoad ? placeResult(S.FirstTemp) : place(S.Atoms[1], S.Type);
  if (S.Indexed) {
    const uint16_t Index = Temps[S.Atoms[S.AtomCount - 1].Temp].Place;
    ReplayOp &Op =
        add(sized(IsLoad ? Code::LoadIndexed1 : Code::StoreIndexed1, Size),
            Value, Base, Index);
    Op.C = S.Shift;
    Op.Bias = static_cast<int32_t>(S.Displacement);
    return;
  }
  if (IsLoad)
    add(sized(Code::Load1, Size), Value, Base).Imm = S.Displacement;
  else
    add(sized(Code::Store1, Size), 0, Base, Value).Imm = S.Displacement;
}

/// Lets the comparison just written decide the exit that comes now, if nobody
/// else needs its result.
bool ProgramBuilder::fuseExit(const Atom &Guard, uint32_t I) {
  if (!Guard.IsTemp || Ops.empty())
    return false;
  const Temp &Root = Temps[Temps[Guard.Temp].Root];
  const Statement &S = Steps[Root.Definition];
  ReplayOp &Last = Ops.back();
  if (Root.LastUse != I || !Root.OwnsPlace || S.Opcode != CH_OP_FIRST ||
      Last.Dst != Root.Place)
    return false;
  switch (static_cast<Operation>(S.Operation)) {
#define CH_FUSED_COMPARE(Name)                                                 \
  case Operation::Op_##Name:                                                   \
    if (Last.Code == operationCode(S.Operation))                               \
      Last.Code = static_cast<uint16_t>(Code::Exit_##Name);                    \
    else if (Last.Code == immediateCode(S.Operation))                          \
      Last.Code = static_cast<uint16_t>(Code::ExitImmediate_##Name);           \
    else                                                                       \
      return false;                                                            \
    return true;
#include "query/FusedCompares.def"
#undef CH_FUSED_COMPARE
  default:
    return false;
  }
}

/// Joins neighbouring moves of 8 bytes, and zeros of 16; the flags thunk, three
/// words at once, is what most instructions end with.
void ProgramBuilder::fuseMoves() {
  auto Is = [](const ReplayOp &Op, Code C) {
    return Op.Code == static_cast<uint16_t>(C);
  };
  auto IsMove = [&](const ReplayOp &Op) {
    return Is(Op, Code::Copy8) || Is(Op, Code::Const8);
  };
  auto Make = [](Code C, uint16_t Dst, uint16_t A, uint16_t B, uint64_t Imm) {
    ReplayOp Op;
    Op.Code = static_cast<uint16_t>(C);
    Op.Dst = Dst;
    Op.A = A;
    Op.B = B;
    Op.Imm = Imm;
    return Op;
  };
  // Overlapping operands would make the order matter.
  auto Reads = [&](const ReplayOp &Op, uint16_t Place) {
    return Is(Op, Code::Copy8) && Op.A < Place + 8 && Place < Op.A + 8;
  };
  size_t To = 0;
  for (size_t I = 0; I < Ops.size();) {
    const ReplayOp X = Ops[I];
    // The second word of a double compare-and-swap is no operation.
    if (Is(X, Code::CasDouble)) {
      Ops[To++] = X;
      Ops[To++] = Ops[I + 1];
      I += 2;
      continue;
    }
    if (Is(X, Code::Const16) && X.Imm == 0) {
      uint16_t Count = 0;
      for (; I < Ops.size() && Is(Ops[I], Code::Const16) && Ops[I].Imm == 0 &&
             Ops[I].Dst == X.Dst + 32 * Count;
           ++I)
        ++Count;
      Ops[To++] = Make(Code::Clear16, X.Dst, Count, 0, 0);
      continue;
    }
    if (!IsMove(X) || I + 1 == Ops.size() || !IsMove(Ops[I + 1]) ||
        Reads(Ops[I + 1], X.Dst) ||
        (X.Dst < Ops[I + 1].Dst + 8 && Ops[I + 1].Dst < X.Dst + 8)) {
      Ops[To++] = X;
      ++I;
      continue;
    }
    const ReplayOp Y = Ops[I + 1];
    const bool HasThird = I + 2 < Ops.size() && IsMove(Ops[I + 2]);
    if (HasThird && Is(X, Code::Const8) && X.Dst == CH_OFFSET_CC_OP &&
        X.Imm <= UINT16_MAX && Y.Dst == CH_OFFSET_CC_DEP1 &&
        Ops[I + 2].Dst == CH_OFFSET_CC_DEP2 && Is(Y, Code::Copy8) &&
        !Reads(Ops[I + 2], X.Dst) && !Reads(Ops[I + 2], Y.Dst)) {
      const ReplayOp Z = Ops[I + 2];
      const bool Copies = Is(Z, Code::Copy8);
      Ops[To++] = Make(Code::SetFlags, static_cast<uint16_t>(X.Imm), Y.A,
                       Copies ? Z.A : uint16_t(FrameZero), Copies ? 0 : Z.Imm);
      I += 3;
      continue;
    }
    if (Is(X, Code::Copy8) && Is(Y, Code::Copy8)) {
      ReplayOp Op = Make(Code::CopyTwice, X.Dst, X.A, Y.Dst, 0);
      Op.C = Y.A;
      Ops[To++] = Op;
    } else if (Is(X, Code::Copy8)) {
      Ops[To++] = Make(Code::CopyConst, X.Dst, X.A, Y.Dst, Y.Imm);
    } else if (Is(Y, Code::Copy8)) {
      Ops[To++] = Make(Code::CopyConst, Y.Dst, Y.A, X.Dst, X.Imm);
    } else if (X.Imm <= UINT32_MAX && Y.Imm <= UINT32_MAX) {
      Ops[To++] = Make(Code::ConstTwice, X.Dst, Y.Dst, 0, X.Imm | Y.Imm << 32);
    } else {
      Ops[To++] = X;
      ++I;
      continue;
    }
    I += 2;
  }
  Ops.resize(To);
}

Error ProgramBuilder::emitAll() {
  for (SmallVector<uint16_t, 32> &Places : Free)
    Places.clear();
  NextPlace = FrameTemps;
  ExitsSeen = InstructionsSeen = 0;
  for (uint32_t I = 0; I < StepCount; ++I) {
    if (Steps[I].Dead)
      continue;
    emit(I);
    for (auto [Place, Size] : Scratch)
      release(Place, Size);
    Scratch.clear();
    auto GiveBack = [&](uint32_t Number) {
      Temp &Root = Temps[Temps[Number].Root];
      if (!Root.OwnsPlace || (Root.LastUse != None && Root.LastUse > I))
        return;
      release(Root.Place, typeSize(Root.Type));
      Root.OwnsPlace = false;
    };
    const Statement &S = Steps[I];
    for (unsigned N = 0; N < S.AtomCount; ++N)
      if (S.Atoms[N].IsTemp)
        GiveBack(S.Atoms[N].Temp);
    for (unsigned N = 0; N < S.Defines; ++N)
      GiveBack(S.FirstTemp + N);
  }
  if (NextPlace > FrameSize)
    return createStringError("the program needs too many temps at once");
  fuseMoves();
  return Error::success();
}

} // namespace chronicle
