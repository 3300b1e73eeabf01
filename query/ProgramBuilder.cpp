// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/ProgramBuilder.h"
#include "query/Helpers.h"
#include "trace-format/GuestState.h"
#include <algorithm>
#include <bitset>

using namespace llvm;

namespace chronicle {

namespace {

/// Operations that only name bytes of their operand: where those start, or -1.
int namedBytes(const Statement &S) {
  if (S.Opcode == CH_OP_COPY)
    return 0;
  if (S.Opcode != CH_OP_FIRST)
    return -1;
  switch (static_cast<Operation>(S.Operation)) {
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

bool isOperation(const Statement &S, Operation Op) {
  return S.Opcode == CH_OP_FIRST && S.Operation == static_cast<uint32_t>(Op);
}

/// Operations that only add zeros.
bool extends(const Statement &S) {
  if (S.Opcode != CH_OP_FIRST)
    return false;
  switch (static_cast<Operation>(S.Operation)) {
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

/// Helpers that return 0 or 1: 64to1 of their result is its lowest byte.
bool returnsBit(const Statement &S) {
  if (S.Opcode != CH_OP_CALL)
    return false;
  Helper H = helper(S.Helper);
  return H == helpers::amd64g_calculate_condition ||
         H == helpers::amd64g_calculate_rflags_c;
}

/// Statements whose result of up to 8 bytes the interpreter extends.
bool writesExtended(const Statement &S) {
  return (S.Opcode == CH_OP_FIRST || S.Opcode == CH_OP_LOAD ||
          S.Opcode == CH_OP_ITE) &&
         typeSize(S.DefinedType) <= 8;
}

bool hasEffect(const Statement &S) {
  switch (S.Opcode) {
  case CH_OP_GET:
  case CH_OP_GET_INDEXED:
  case CH_OP_LOAD:
  case CH_OP_LOAD_GUARDED:
  case CH_OP_ITE:
  case CH_OP_CALL:
  case CH_OP_COPY:
  case CH_OP_FIRST:
    return false;
  default:
    return true;
  }
}

/// The guest-state bytes a statement reads or writes.
struct StateRange {
  uint32_t Offset = 0, Size = 0;
  bool Reads = false, Writes = false;
  bool overlaps(uint32_t O, uint32_t N) const {
    return Offset < O + N && O < Offset + Size;
  }
};
StateRange stateRange(const Statement &S) {
  switch (S.Opcode) {
  case CH_OP_GET:
    return {S.Offset, typeSize(S.Type), true, false};
  case CH_OP_PUT:
    return {S.Offset, typeSize(S.Type), false, true};
  case CH_OP_GET_INDEXED:
    return {S.Offset, S.Elements * typeSize(S.Type), true, false};
  case CH_OP_PUT_INDEXED:
    return {S.Offset, S.Elements * typeSize(S.Type), false, true};
  case CH_OP_OPAQUE_REGISTERS:
    return {S.Offset, S.Size, false, true};
  default:
    return {};
  }
}

/// Index into Const1.., Copy1.. and so on.
unsigned widthIndex(unsigned Size) {
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
Code sized(Code First, unsigned Size) {
  return static_cast<Code>(static_cast<unsigned>(First) + widthIndex(Size));
}

} // namespace

/// Where the statement's result is in its operand, if it needs no operation.
int ProgramBuilder::aliasOffset(const Statement &S) const {
  if (S.AtomCount != 1 || !S.Atoms[0].IsTemp)
    return -1;
  const Temp &Source = Temps[S.Atoms[0].Temp];
  if (extends(S))
    return Source.Extended ? 0 : -1;
  if (isOperation(S, Operation::Op_64to1) ||
      isOperation(S, Operation::Op_32to1)) {
    // A bit made wide and narrow again, by whatever names.
    const bool IsBit = Source.Extended && Temps[Source.Root].Type == CH_I1;
    return IsBit || returnsBit(Statements[Source.Definition]) ? 0 : -1;
  }
  return namedBytes(S);
}

Error ProgramBuilder::read(ArrayRef<uint8_t> Definition) {
  Expected<BytecodeReader> Reader = BytecodeReader::create(Definition);
  if (!Reader)
    return Reader.takeError();
  Program->Header = Reader->header();
  Program->InstructionsAt.push_back(0);
  uint64_t Address = Program->Header.Address;
  Statement S;
  while (true) {
    Expected<bool> More = Reader->next(S);
    if (!More)
      return More.takeError();
    if (!*More)
      break;
    const uint32_t I = Statements.size();
    const int Offset = aliasOffset(S);
    Alias.push_back(static_cast<int8_t>(Offset));
    for (unsigned N = 0; N < S.Defines; ++N) {
      Temp T;
      T.Type = S.DefinedType;
      T.Definition = I;
      T.Root = Temps.size();
      T.Extended = writesExtended(S);
      if (Offset >= 0) {
        const Temp &Source = Temps[S.Atoms[0].Temp];
        T.Root = Source.Root;
        T.Extended = Source.Extended && Offset == 0 &&
                     typeSize(T.Type) >= typeSize(Source.Type);
      }
      Temps.push_back(T);
    }
    if (S.Opcode == CH_OP_INSTRUCTION) {
      Program->Addresses.push_back(Address);
      Address += S.Size;
    }
    if (S.Opcode == CH_OP_EXIT || S.Opcode == CH_OP_NEXT)
      Program->InstructionsAt.push_back(
          static_cast<uint16_t>(Program->Addresses.size()));
    if (S.Opcode == CH_OP_CALL && S.AtomCount < helperArity(S.Helper))
      return createStringError("damaged replay program: too few arguments");
    Statements.push_back(S);
  }
  Addresses.resize(Statements.size());
  Dead.resize(Statements.size());
  return Error::success();
}

void ProgramBuilder::foldAddresses() {
  auto IsAccess = [](const Statement &S) {
    return S.Opcode == CH_OP_LOAD || S.Opcode == CH_OP_STORE;
  };
  // A sum that something else needs too is computed anyway.
  std::vector<uint16_t> Uses(Temps.size()), AddressUses(Temps.size());
  for (const Statement &S : Statements)
    for (unsigned N = 0; N < S.AtomCount; ++N)
      if (S.Atoms[N].IsTemp) {
        ++Uses[S.Atoms[N].Temp];
        AddressUses[S.Atoms[N].Temp] += IsAccess(S) && N == 0;
      }
  auto Definition = [&](const Atom &A) -> const Statement & {
    return Statements[Temps[A.Temp].Definition];
  };
  for (uint32_t I = 0; I < Statements.size(); ++I) {
    Statement &S = Statements[I];
    if (!IsAccess(S))
      continue;
    AddressParts &Parts = Addresses[I];
    Atom Address = S.Atoms[0];
    auto OnlyHere = [&, Outer = true]() mutable {
      // Below the outermost sum there is one use: that sum.
      bool Result = Outer ? Uses[Address.Temp] == AddressUses[Address.Temp]
                          : Uses[Address.Temp] == 1;
      Outer = false;
      return Result;
    };
    if (!Address.IsTemp) {
      Parts.Displacement = Address.Constant;
      continue;
    }
    bool Fold = OnlyHere();
    const Statement *Sum = &Definition(Address);
    if (Fold &&
        (isOperation(*Sum, Operation::Op_Add64) ||
         isOperation(*Sum, Operation::Op_Sub64)) &&
        Sum->Atoms[0].IsTemp && !Sum->Atoms[1].IsTemp) {
      const uint64_t Constant = Sum->Atoms[1].Constant;
      Parts.Displacement =
          isOperation(*Sum, Operation::Op_Sub64) ? 0 - Constant : Constant;
      Address = Sum->Atoms[0];
      Fold = OnlyHere();
      Sum = &Definition(Address);
    }
    S.Atoms[0] = Address;
    if (!Fold || !isOperation(*Sum, Operation::Op_Add64) ||
        !Sum->Atoms[0].IsTemp || !Sum->Atoms[1].IsTemp ||
        typeSize(S.Type) > 16 ||
        static_cast<int64_t>(Parts.Displacement) !=
            static_cast<int32_t>(Parts.Displacement))
      continue;
    Atom Index = Sum->Atoms[1];
    const Statement &Scaled = Definition(Index);
    if (isOperation(Scaled, Operation::Op_Shl64) && Scaled.Atoms[0].IsTemp &&
        !Scaled.Atoms[1].IsTemp && Scaled.Atoms[1].Constant < 64 &&
        Uses[Index.Temp] == 1) {
      Parts.Shift = static_cast<uint8_t>(Scaled.Atoms[1].Constant);
      Index = Scaled.Atoms[0];
    }
    Parts.Indexed = true;
    S.Atoms[0] = Sum->Atoms[0];
    S.Atoms[S.AtomCount++] = Index;
  }
}

void ProgramBuilder::use(const Atom &A, uint32_t I) {
  if (!A.IsTemp)
    return;
  for (Temp *T : {&Temps[A.Temp], &Temps[Temps[A.Temp].Root]})
    if (T->LastUse == None || T->LastUse < I)
      T->LastUse = I;
}

void ProgramBuilder::findDead() {
  std::bitset<CH_GUEST_STATE_SIZE> Seen;
  for (uint32_t I = Statements.size(); I-- > 0;) {
    const Statement &S = Statements[I];
    if (!hasEffect(S) && Temps[S.FirstTemp].LastUse == None) {
      Dead[I] = true;
      continue;
    }
    StateRange Range = stateRange(S);
    switch (S.Opcode) {
    case CH_OP_INSTRUCTION:
      if (Form == ProgramForm::Exact)
        Seen.set();
      break;
    case CH_OP_EXIT:
    case CH_OP_NEXT:
      Seen.set();
      break;
    case CH_OP_GET:
    case CH_OP_GET_INDEXED:
      for (uint32_t B = 0; B < Range.Size; ++B)
        Seen.set(Range.Offset + B);
      break;
    case CH_OP_PUT: {
      bool Needed = false;
      for (uint32_t B = 0; B < Range.Size; ++B)
        Needed |= Seen[Range.Offset + B];
      if (!Needed) {
        Dead[I] = true;
        continue;
      }
      for (uint32_t B = 0; B < Range.Size; ++B)
        Seen.reset(Range.Offset + B);
      break;
    }
    case CH_OP_OPAQUE_REGISTERS:
      for (uint32_t B = 0; B < Range.Size; ++B)
        Seen.reset(Range.Offset + B);
      break;
    }
    for (unsigned N = 0; N < S.AtomCount; ++N)
      use(S.Atoms[N], I);
  }
}

bool ProgramBuilder::isOverwritten(uint32_t Offset, uint32_t Size,
                                   uint32_t From, uint32_t To,
                                   uint32_t Except) const {
  return any_of(Writes, [&](const Write &W) {
    return W.Offset < Offset + Size && Offset < W.Offset + W.Size &&
           W.Time > From && W.Time < To && W.Statement != Except;
  });
}

bool ProgramBuilder::canSink(const Statement &Put, uint32_t I) {
  if (!Put.Atoms[0].IsTemp)
    return false;
  const Temp &Named = Temps[Put.Atoms[0].Temp], &T = Temps[Named.Root];
  const Statement &S = Statements[T.Definition];
  const uint32_t Size = typeSize(Put.Type);
  if (T.Sunk || S.Defines != 1 || S.Opcode == CH_OP_GET ||
      S.Opcode == CH_OP_CAS || S.Opcode == CH_OP_COPY)
    return false;
  // What the interpreter writes must be what the PUT wants.
  if (T.Extended ? Size != 8 || !Named.Extended
                 : Named.Root != Put.Atoms[0].Temp)
    return false;
  const uint32_t From = T.Definition;
  for (uint32_t J = From + 1; J < I; ++J) {
    if (Dead[J])
      continue;
    const Statement &Between = Statements[J];
    if (Between.Opcode == CH_OP_EXIT ||
        (Between.Opcode == CH_OP_INSTRUCTION && Form == ProgramForm::Exact))
      return false;
    StateRange Range = stateRange(Between);
    if (Range.overlaps(Put.Offset, Size))
      return false;
  }
  if (isOverwritten(Put.Offset, Size, From, T.LastUse, I))
    return false;
  return none_of(Residents, [&](const Resident &R) {
    return R.Offset < Put.Offset + Size && Put.Offset < R.Offset + R.Size &&
           R.From < From && R.To > From;
  });
}

void ProgramBuilder::sinkResults() {
  for (uint32_t I = 0; I < Statements.size(); ++I) {
    StateRange Range = stateRange(Statements[I]);
    if (!Dead[I] && Range.Writes)
      Writes.push_back({Range.Offset, Range.Size, I, I});
  }
  for (Write &W : Writes) {
    const Statement &Put = Statements[W.Statement];
    if (Put.Opcode != CH_OP_PUT || !canSink(Put, W.Statement))
      continue;
    Temp &T = Temps[Temps[Put.Atoms[0].Temp].Root];
    T.Sunk = true;
    T.Place = static_cast<uint16_t>(Put.Offset);
    W.Time = T.Definition;
    Residents.push_back({W.Offset, W.Size, T.Definition, T.LastUse});
  }
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
  Program->Ops.push_back(Op);
  return Program->Ops.back();
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

uint16_t ProgramBuilder::define(uint32_t Number) {
  Temp &T = Temps[Number];
  if (T.Sunk)
    return T.Place;
  T.Place = allocate(typeSize(T.Type));
  T.OwnsPlace = true;
  return T.Place;
}

void ProgramBuilder::emit(uint32_t I) {
  const Statement &S = Statements[I];
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
    if (!isOverwritten(S.Offset, Size, I, T.LastUse, None)) {
      T.Place = static_cast<uint16_t>(S.Offset);
      break;
    }
    uint16_t To = define(S.FirstTemp);
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
    uint16_t Value = IsGet ? define(S.FirstTemp) : Operand(1, S.Type);
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
    ReplayOp &Op = add(Code::LoadGuarded, define(S.FirstTemp), Guard, Address);
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
                         define(S.FirstTemp), Address, Expected);
      Op.C = Data;
      Op.D = static_cast<uint16_t>(Size);
    }
    if (S.Double)
      add(Code::CasDouble, define(S.FirstTemp + 1), 0, ExpectedHigh).C =
          DataHigh;
    break;
  }
  case CH_OP_ITE: {
    uint16_t Condition = Operand(0, CH_I1), Then = Operand(1, S.Type),
             Else = Operand(2, S.Type);
    add(sized(Code::Ite1, Size), define(S.FirstTemp), Condition, Then).C = Else;
    break;
  }
  case CH_OP_CALL: {
    uint16_t Arguments[5] = {FrameZero, FrameZero, FrameZero, FrameZero,
                             FrameZero};
    for (unsigned N = 0; N < std::min(S.AtomCount, 5u); ++N)
      Arguments[N] = Operand(N, CH_I64);
    ReplayOp &Op =
        add(Code::Call, define(S.FirstTemp), Arguments[0], Arguments[1]);
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
      add(Code::Opaque, define(S.FirstTemp), static_cast<uint16_t>(Size));
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
    if (Alias[I] >= 0) {
      Temps[S.FirstTemp].Place =
          static_cast<uint16_t>(Temps[S.Atoms[0].Temp].Place + Alias[I]);
      break;
    }
    if (S.Opcode == CH_OP_COPY) {
      constant(define(S.FirstTemp), S.Type, S.Atoms[0].Constant);
      break;
    }
    const OperationInfo &Info = operationInfo(S.Operation);
    if (Info.Arity == 2 && !S.Atoms[1].IsTemp &&
        typeSize(Info.Operands[1]) <= 8) {
      uint16_t Left = Operand(0, Info.Operands[0]);
      uint64_t Right = S.Atoms[1].Constant;
      if (Info.Operands[1] == CH_I1)
        Right &= 1;
      add(static_cast<Code>(immediateCode(S.Operation)), define(S.FirstTemp),
          Left)
          .Imm = Right;
      break;
    }
    uint16_t Places[4] = {0, 0, 0, 0};
    for (unsigned N = 0; N < Info.Arity; ++N)
      Places[N] = Operand(N, Info.Operands[N]);
    ReplayOp &Op = add(static_cast<Code>(operationCode(S.Operation)),
                       define(S.FirstTemp), Places[0], Places[1]);
    Op.C = Places[2];
    Op.D = Places[3];
    break;
  }
  }
}

void ProgramBuilder::emitAccess(uint32_t I) {
  const Statement &S = Statements[I];
  const AddressParts &Parts = Addresses[I];
  const unsigned Size = typeSize(S.Type);
  const bool IsLoad = S.Opcode == CH_OP_LOAD;
  const uint16_t Base =
      S.Atoms[0].IsTemp ? Temps[S.Atoms[0].Temp].Place : uint16_t(FrameZero);
  const uint16_t Value =
      IsLoad ? define(S.FirstTemp) : place(S.Atoms[1], S.Type);
  if (Parts.Indexed) {
    const uint16_t Index = Temps[S.Atoms[S.AtomCount - 1].Temp].Place;
    ReplayOp &Op =
        add(sized(IsLoad ? Code::LoadIndexed1 : Code::StoreIndexed1, Size),
            Value, Base, Index);
    Op.C = Parts.Shift;
    Op.Bias = static_cast<int32_t>(Parts.Displacement);
    return;
  }
  if (IsLoad)
    add(sized(Code::Load1, Size), Value, Base).Imm = Parts.Displacement;
  else
    add(sized(Code::Store1, Size), 0, Base, Value).Imm = Parts.Displacement;
}

/// Lets the comparison just written decide the exit that comes now, if nobody
/// else needs its result.
bool ProgramBuilder::fuseExit(const Atom &Guard, uint32_t I) {
  if (!Guard.IsTemp || Program->Ops.empty())
    return false;
  const Temp &Root = Temps[Temps[Guard.Temp].Root];
  const Statement &S = Statements[Root.Definition];
  ReplayOp &Last = Program->Ops.back();
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

/// Joins neighbouring moves of 8 bytes; the flags thunk, three words at once,
/// is what most instructions end with.
void ProgramBuilder::fuseMoves() {
  std::vector<ReplayOp> &Ops = Program->Ops;
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
  Program->Ops.reserve(Statements.size());
  for (uint32_t I = 0; I < Statements.size(); ++I) {
    if (Dead[I])
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
    const Statement &S = Statements[I];
    for (unsigned N = 0; N < S.AtomCount; ++N)
      if (S.Atoms[N].IsTemp)
        GiveBack(S.Atoms[N].Temp);
    for (unsigned N = 0; N < S.Defines; ++N)
      GiveBack(S.FirstTemp + N);
  }
  if (NextPlace > FrameSize)
    return createStringError("the program needs too many temps at once");
  fuseMoves();
  Program->Ops.shrink_to_fit();
  return Error::success();
}

Expected<std::unique_ptr<ReplayProgram>>
ProgramBuilder::build(ArrayRef<uint8_t> Definition) {
  Program.reset(new ReplayProgram);
  if (Error E = read(Definition))
    return E;
  foldAddresses();
  findDead();
  sinkResults();
  if (Error E = emitAll())
    return E;
  return std::move(Program);
}

} // namespace chronicle
