// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/replay/program/ProgramEmitter.h"
#include "query/replay/program/MoveFusion.h"
#include <algorithm>

using namespace llvm;

namespace chronicle::program {

/// Index into Const1..Const32, Copy1..Copy32 and so on.
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

uint16_t ProgramEmitter::allocate(unsigned Size) {
  unsigned Class = Size <= 8 ? 0 : Size <= 16 ? 1 : 2;
  if (!Free[Class].empty()) {
    uint16_t Place = Free[Class].back();
    Free[Class].pop_back();
    return Place;
  }
  uint32_t Place = NextPlace;
  NextPlace += 8u << Class;
  // emit() fails at the end if the frame is too small.
  return static_cast<uint16_t>(Place);
}

void ProgramEmitter::release(uint16_t Place, unsigned Size) {
  Free[Size <= 8 ? 0 : Size <= 16 ? 1 : 2].push_back(Place);
}

ReplayOp &ProgramEmitter::add(Code C, uint16_t Dst, uint16_t A, uint16_t B) {
  ReplayOp Op;
  Op.Code = static_cast<uint16_t>(C);
  Op.Dst = Dst;
  Op.A = A;
  Op.B = B;
  Op.Imm = 0;
  Ops.push_back(Op);
  return Ops.back();
}

void ProgramEmitter::constant(uint16_t To, ch_type Type, uint64_t Value) {
  if (Type == CH_I1)
    Value &= 1;
  add(sized(Code::Const1, bytecode::typeSize(Type)), To).Imm = Value;
}

uint16_t ProgramEmitter::place(const bytecode::Atom &A, ch_type Type) {
  if (A.IsTemp)
    return Temps[A.Temp].Place;
  if (A.Constant == 0)
    return FrameZero;
  uint16_t Place = allocate(bytecode::typeSize(Type));
  Scratch.push_back({Place, bytecode::typeSize(Type)});
  constant(Place, Type, A.Constant);
  return Place;
}

uint16_t ProgramEmitter::placeResult(uint32_t Number) {
  Temp &T = Temps[Number];
  if (T.Sunk)
    return T.Place;
  T.Place = allocate(bytecode::typeSize(T.Type));
  T.OwnsPlace = true;
  return T.Place;
}

void ProgramEmitter::emitGet(const Step &S, uint32_t I) {
  Temp &T = Temps[S.FirstTemp];
  if (!Analysis->isOverwritten(S.StateFirst, S.StateEnd, I, T.LastUse, None)) {
    T.Place = static_cast<uint16_t>(S.Offset);
    return;
  }
  uint16_t To = placeResult(S.FirstTemp);
  add(sized(Code::Copy1, bytecode::typeSize(S.Type)), To,
      static_cast<uint16_t>(S.Offset));
}

void ProgramEmitter::emitPut(const Step &S) {
  const bytecode::Atom &A = S.Atoms[0];
  const uint16_t To = static_cast<uint16_t>(S.Offset);
  if (!A.IsTemp)
    constant(To, S.Type, A.Constant);
  else if (Temps[A.Temp].Place != To)
    add(sized(Code::Copy1, bytecode::typeSize(S.Type)), To,
        Temps[A.Temp].Place);
}

void ProgramEmitter::emitIndexed(const Step &S) {
  const bool IsGet = S.Opcode == CH_OP_GET_INDEXED;
  uint16_t Index = place(S.Atoms[0], CH_I32);
  uint16_t Value = IsGet ? placeResult(S.FirstTemp) : place(S.Atoms[1], S.Type);
  ReplayOp &Op = add(IsGet ? Code::GetIndexed : Code::PutIndexed, Value, Index,
                     static_cast<uint16_t>(S.Offset));
  Op.C = static_cast<uint16_t>(S.Elements);
  Op.D = static_cast<uint16_t>(bytecode::typeSize(S.Type));
  Op.Bias = S.Bias;
}

void ProgramEmitter::emitAccess(const Step &S) {
  const unsigned Size = bytecode::typeSize(S.Type);
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

void ProgramEmitter::emitGuardedStore(const Step &S) {
  uint16_t Guard = place(S.Atoms[0], CH_I1),
           Address = place(S.Atoms[1], CH_I64),
           Value = place(S.Atoms[2], S.Type);
  add(Code::StoreGuarded, Guard, Address, Value).C =
      static_cast<uint16_t>(bytecode::typeSize(S.Type));
}

void ProgramEmitter::emitGuardedLoad(const Step &S) {
  uint16_t Guard = place(S.Atoms[0], CH_I1),
           Address = place(S.Atoms[1], CH_I64),
           Other = place(S.Atoms[2], S.Type);
  ReplayOp &Op =
      add(Code::LoadGuarded, placeResult(S.FirstTemp), Guard, Address);
  Op.C = Other;
  Op.D = S.Conversion;
}

void ProgramEmitter::emitCas(const Step &S) {
  uint16_t Address = place(S.Atoms[0], CH_I64),
           Expected = place(S.Atoms[1], S.Type),
           Data = place(S.Atoms[2], S.Type), ExpectedHigh = 0, DataHigh = 0;
  if (S.Double) {
    ExpectedHigh = place(S.Atoms[3], S.Type);
    DataHigh = place(S.Atoms[4], S.Type);
  }
  {
    ReplayOp &Op = add(S.Double ? Code::CasDouble : Code::Cas,
                       placeResult(S.FirstTemp), Address, Expected);
    Op.C = Data;
    Op.D = static_cast<uint16_t>(bytecode::typeSize(S.Type));
  }
  if (S.Double)
    add(Code::CasDouble, placeResult(S.FirstTemp + 1), 0, ExpectedHigh).C =
        DataHigh;
}

void ProgramEmitter::emitIte(const Step &S) {
  uint16_t Condition = place(S.Atoms[0], CH_I1),
           Then = place(S.Atoms[1], S.Type), Else = place(S.Atoms[2], S.Type);
  add(sized(Code::Ite1, bytecode::typeSize(S.Type)), placeResult(S.FirstTemp),
      Condition, Then)
      .C = Else;
}

void ProgramEmitter::emitCall(const Step &S) {
  uint16_t Arguments[5] = {FrameZero, FrameZero, FrameZero, FrameZero,
                           FrameZero};
  for (unsigned N = 0; N < std::min<unsigned>(S.AtomCount, 5); ++N)
    Arguments[N] = place(S.Atoms[N], CH_I64);
  ReplayOp &Op =
      add(Code::Call, placeResult(S.FirstTemp), Arguments[0], Arguments[1]);
  Op.C = Arguments[2];
  Op.D = Arguments[3];
  Op.E = Arguments[4];
  Op.F = static_cast<uint16_t>(S.Helper | bytecode::typeSize(S.Type) << 8);
}

void ProgramEmitter::emitOpaque(const Step &S) {
  const auto Size = static_cast<uint16_t>(bytecode::typeSize(S.Type));
  if (Temps[S.FirstTemp].LastUse == None)
    add(Code::SkipOpaque, 0, Size);
  else
    add(Code::Opaque, placeResult(S.FirstTemp), Size);
}

void ProgramEmitter::emitExit(const Step &S, uint32_t I) {
  uint16_t Guard = place(S.Atoms[0], CH_I1);
  uint16_t Ordinal = static_cast<uint16_t>(++ExitsSeen);
  if (S.Atoms[1].IsTemp) {
    add(Code::ExitComputed, 0, Guard, Ordinal).C = Temps[S.Atoms[1].Temp].Place;
    return;
  }
  fuseExit(S.Atoms[0], I);
  add(Code::Exit, 0, Guard, Ordinal).Imm = S.Atoms[1].Constant;
}

void ProgramEmitter::emitNext(const Step &S) {
  const bytecode::Atom &A = S.Atoms[0];
  add(Code::Next, 0, A.IsTemp ? Temps[A.Temp].Place : uint16_t(FrameZero),
      static_cast<uint16_t>(++ExitsSeen))
      .Imm = A.IsTemp ? 0 : A.Constant;
}

/// A copy, or an operation of ReplayOps.def.
void ProgramEmitter::emitOperation(const Step &S) {
  if (S.Alias >= 0) {
    Temps[S.FirstTemp].Place =
        static_cast<uint16_t>(Temps[S.Atoms[0].Temp].Place + S.Alias);
    return;
  }
  if (S.Opcode == CH_OP_COPY) {
    constant(placeResult(S.FirstTemp), S.Type, S.Atoms[0].Constant);
    return;
  }
  const bytecode::OperationInfo &Info = bytecode::operationInfo(S.Operation);
  if (Info.Arity == 2 && !S.Atoms[1].IsTemp &&
      bytecode::typeSize(Info.Operands[1]) <= 8) {
    uint16_t Left = place(S.Atoms[0], Info.Operands[0]);
    uint64_t Right = S.Atoms[1].Constant;
    if (Info.Operands[1] == CH_I1)
      Right &= 1;
    add(static_cast<Code>(immediateCode(S.Operation)), placeResult(S.FirstTemp),
        Left)
        .Imm = Right;
    return;
  }
  uint16_t Places[4] = {0, 0, 0, 0};
  for (unsigned N = 0; N < Info.Arity; ++N)
    Places[N] = place(S.Atoms[N], Info.Operands[N]);
  ReplayOp &Op = add(static_cast<Code>(operationCode(S.Operation)),
                     placeResult(S.FirstTemp), Places[0], Places[1]);
  Op.C = Places[2];
  Op.D = Places[3];
}

/// Lets the comparison just emitted decide the exit that comes now, if nothing
/// else needs its result.
bool ProgramEmitter::fuseExit(const bytecode::Atom &Guard, uint32_t I) {
  if (!Guard.IsTemp || Ops.empty())
    return false;
  const Temp &Root = Temps[Temps[Guard.Temp].Root];
  const bytecode::Statement &S = Steps[Root.Definition];
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
#include "query/replay/program/FusedCompares.def"
#undef CH_FUSED_COMPARE
  default:
    return false;
  }
}

void ProgramEmitter::emitStatement(uint32_t I) {
  const Step &S = Steps[I];
  switch (S.Opcode) {
  case CH_OP_INSTRUCTION:
    if (Analysis->form() == ProgramForm::Exact)
      add(Code::Instruction, 0, static_cast<uint16_t>(InstructionsSeen));
    ++InstructionsSeen;
    break;
  case CH_OP_GET:
    return emitGet(S, I);
  case CH_OP_PUT:
    return emitPut(S);
  case CH_OP_GET_INDEXED:
  case CH_OP_PUT_INDEXED:
    return emitIndexed(S);
  case CH_OP_LOAD:
  case CH_OP_STORE:
    return emitAccess(S);
  case CH_OP_STORE_GUARDED:
    return emitGuardedStore(S);
  case CH_OP_LOAD_GUARDED:
    return emitGuardedLoad(S);
  case CH_OP_CAS:
    return emitCas(S);
  case CH_OP_ITE:
    return emitIte(S);
  case CH_OP_CALL:
    return emitCall(S);
  case CH_OP_OPAQUE:
    return emitOpaque(S);
  case CH_OP_OPAQUE_REGISTERS:
    add(Code::Opaque, static_cast<uint16_t>(S.Offset),
        static_cast<uint16_t>(S.Size));
    break;
  case CH_OP_OPAQUE_MEMORY: {
    uint16_t Guard = place(S.Atoms[0], CH_I1),
             Address = place(S.Atoms[1], CH_I64);
    add(Code::OpaqueMemory, 0, Guard, Address).C =
        static_cast<uint16_t>(S.Size);
    break;
  }
  case CH_OP_EXIT:
    return emitExit(S, I);
  case CH_OP_NEXT:
    return emitNext(S);
  case CH_OP_STACK_POINTER: // replay computes it
    break;
  case CH_OP_COPY:
  case CH_OP_FIRST:
    return emitOperation(S);
  }
}

/// Gives back the places that are not needed after statement I. Runs once per
/// statement: a call would cost 5 % of building programs.
LLVM_ATTRIBUTE_ALWAYS_INLINE void ProgramEmitter::releaseAfter(uint32_t I) {
  for (auto [Place, Size] : Scratch)
    release(Place, Size);
  Scratch.clear();
  auto GiveBack = [&](uint32_t Number) {
    Temp &Root = Temps[Temps[Number].Root];
    if (!Root.OwnsPlace || (Root.LastUse != None && Root.LastUse > I))
      return;
    release(Root.Place, bytecode::typeSize(Root.Type));
    Root.OwnsPlace = false;
  };
  const bytecode::Statement &S = Steps[I];
  for (unsigned N = 0; N < S.AtomCount; ++N)
    if (S.Atoms[N].IsTemp)
      GiveBack(S.Atoms[N].Temp);
  for (unsigned N = 0; N < S.Defines; ++N)
    GiveBack(S.FirstTemp + N);
}

Error ProgramEmitter::emit(ProgramAnalysis &Analyzed) {
  Analysis = &Analyzed;
  Steps = Analyzed.steps().data();
  Temps = Analyzed.temps().data();
  Ops.clear();
  for (SmallVector<uint16_t, 32> &Places : Free)
    Places.clear();
  NextPlace = FrameTemps;
  ExitsSeen = InstructionsSeen = 0;
  const auto Count = static_cast<uint32_t>(Analyzed.steps().size());
  for (uint32_t I = 0; I < Count; ++I) {
    if (Steps[I].Dead)
      continue;
    emitStatement(I);
    releaseAfter(I);
  }
  if (NextPlace > FrameSize)
    return createStringError("the program needs too many temps at once");
  fuseMoves(Ops);
  return Error::success();
}

} // namespace chronicle::program
