// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/ProgramBuilder.h"
#include "query/Helpers.h"
#include <algorithm>
#include <bitset>

using namespace llvm;

namespace chronicle {

namespace {

/// Operations that only name bytes of their operand: where those start, or -1.
int aliasOffset(const Statement &S) {
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
  case Operation::Op_1Uto8:
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

bool isAlias(const Statement &S) {
  return aliasOffset(S) >= 0 && S.Atoms[0].IsTemp;
}

bool isOperation(const Statement &S, Operation Op) {
  return S.Opcode == CH_OP_FIRST && S.Operation == static_cast<uint32_t>(Op);
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
    for (unsigned N = 0; N < S.Defines; ++N) {
      Temp T;
      T.Type = S.DefinedType;
      T.Definition = I;
      T.Root = Temps.size();
      if (isAlias(S))
        T.Root = Temps[S.Atoms[0].Temp].Root;
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
  Displacement.resize(Statements.size());
  Dead.resize(Statements.size());
  return Error::success();
}

void ProgramBuilder::foldAddresses() {
  auto AddressAtom = [](Statement &S) -> Atom * {
    if (S.Opcode == CH_OP_LOAD || S.Opcode == CH_OP_STORE)
      return &S.Atoms[0];
    return nullptr;
  };
  // A sum that something else needs too is computed anyway.
  std::vector<uint32_t> OtherUses(Temps.size());
  for (Statement &S : Statements)
    for (unsigned N = 0; N < S.AtomCount; ++N)
      if (S.Atoms[N].IsTemp && &S.Atoms[N] != AddressAtom(S))
        ++OtherUses[S.Atoms[N].Temp];
  for (uint32_t I = 0; I < Statements.size(); ++I) {
    Atom *Address = AddressAtom(Statements[I]);
    if (!Address)
      continue;
    while (Address->IsTemp && OtherUses[Address->Temp] == 0) {
      const Statement &Sum = Statements[Temps[Address->Temp].Definition];
      const bool IsSub = isOperation(Sum, Operation::Op_Sub64);
      if (!(IsSub || isOperation(Sum, Operation::Op_Add64)) ||
          !Sum.Atoms[0].IsTemp || Sum.Atoms[1].IsTemp)
        break;
      Displacement[I] += IsSub ? -Sum.Atoms[1].Constant : Sum.Atoms[1].Constant;
      Address->Temp = Sum.Atoms[0].Temp;
      // The base must stay where it is until here.
      ++OtherUses[Address->Temp];
    }
    if (!Address->IsTemp) {
      Displacement[I] += Address->Constant;
    }
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
  const uint32_t Number = Put.Atoms[0].Temp;
  const Temp &T = Temps[Number];
  const Statement &S = Statements[T.Definition];
  if (T.Sunk || T.Root != Number || S.Defines != 1 || S.Opcode == CH_OP_GET ||
      S.Opcode == CH_OP_CAS || aliasOffset(S) >= 0)
    return false;
  const uint32_t From = T.Definition, Size = typeSize(Put.Type);
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
    Temp &T = Temps[Put.Atoms[0].Temp];
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
  case CH_OP_LOAD: {
    uint16_t Base = S.Atoms[0].IsTemp ? Temps[S.Atoms[0].Temp].Place
                                      : uint16_t(FrameZero);
    add(sized(Code::Load1, Size), define(S.FirstTemp), Base).Imm =
        Displacement[I];
    break;
  }
  case CH_OP_STORE: {
    uint16_t Base = S.Atoms[0].IsTemp ? Temps[S.Atoms[0].Temp].Place
                                      : uint16_t(FrameZero);
    uint16_t Value = Operand(1, S.Type);
    add(sized(Code::Store1, Size), 0, Base, Value).Imm = Displacement[I];
    break;
  }
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
        add(Code::LoadGuarded, define(S.FirstTemp), Guard, Address);
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
    if (S.Atoms[1].IsTemp)
      add(Code::ExitComputed, 0, Guard, Ordinal).C =
          Temps[S.Atoms[1].Temp].Place;
    else
      add(Code::Exit, 0, Guard, Ordinal).Imm = S.Atoms[1].Constant;
    break;
  }
  case CH_OP_NEXT: {
    const Atom &A = S.Atoms[0];
    add(Code::Next, 0,
        A.IsTemp ? Temps[A.Temp].Place : uint16_t(FrameZero),
        static_cast<uint16_t>(++ExitsSeen))
        .Imm = A.IsTemp ? 0 : A.Constant;
    break;
  }
  case CH_OP_COPY:
  case CH_OP_FIRST: {
    if (int Offset = aliasOffset(S); Offset >= 0) {
      if (S.Atoms[0].IsTemp) {
        Temps[S.FirstTemp].Place =
            static_cast<uint16_t>(Temps[S.Atoms[0].Temp].Place + Offset);
        break;
      }
      if (S.Opcode == CH_OP_COPY) {
        constant(define(S.FirstTemp), S.Type, S.Atoms[0].Constant);
        break;
      }
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
