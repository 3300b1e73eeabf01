// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/Values.h"
#include "lldb-plugin/Describe.h"
#include "query/JsonAnswers.h"
#include "trace-format/GuestState.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace chronicle {

// ---- text ----

std::string errorText(lldb::SBError E) {
  const char *Text = E.GetCString();
  StringRef All = StringRef(Text ? Text : "").trim();
  // Of a compiler's page of text, what is wrong: "error: <user expression
  // 0>:1:1: use of ...".
  size_t At = All.find("error: <user expression");
  if (At == StringRef::npos)
    return All.str();
  StringRef Line = All.substr(At).split('\n').first;
  return Line.split(">:").second.split(": ").second.str();
}

std::string valueText(lldb::SBValue Value) {
  // Members of members of members are enough for a line.
  constexpr unsigned MostMembers = 8, MostDepth = 3;
  auto Text = [&](auto &&Self, lldb::SBValue V, unsigned Depth) -> std::string {
    if (V.GetError().Fail())
      return "<" + errorText(V.GetError()) + ">";
    const char *Plain = V.GetValue(), *Summary = V.GetSummary();
    if (Plain || Summary)
      return std::string(Plain ? Plain : "") + (Plain && Summary ? " " : "") +
             (Summary ? Summary : "");
    if (Depth == MostDepth)
      return "{...}";
    std::string Result = "{";
    uint32_t Count = V.GetNumChildren(MostMembers + 1);
    for (uint32_t I = 0; I < std::min(Count, MostMembers); ++I) {
      lldb::SBValue Member = V.GetChildAtIndex(I);
      const char *Name = Member.GetName();
      Result += I ? ", " : "";
      if (Name && *Name != '[')
        Result += std::string(Name) + " = ";
      Result += Self(Self, Member, Depth + 1);
    }
    return Result + (Count > MostMembers ? ", ...}" : "}");
  };
  return Text(Text, Value, 0);
}

/// A value whose bytes alone say all there is to show.
static bool isPlain(lldb::SBType Type) {
  lldb::TypeClass Class = Type.GetCanonicalType().GetTypeClass();
  return Class == lldb::eTypeClassBuiltin ||
         Class == lldb::eTypeClassEnumeration;
}

static lldb::SBValue valueOf(lldb::SBTarget Target, ArrayRef<uint8_t> Bytes,
                             lldb::SBType Type) {
  lldb::SBData Data;
  lldb::SBError Failed;
  Data.SetDataWithOwnership(Failed, Bytes.data(), Bytes.size(),
                            lldb::eByteOrderLittle, 8);
  return Target.CreateValueFromData("value", Data, Type);
}

// ---- memory ----

std::string Watched::title() const {
  if (!Type.IsValid())
    return formatv("{0:x}, {1} bytes", Range.First,
                   Range.Last - Range.First + 1);
  lldb::SBType Shown = Type;
  const char *TypeName = Shown.GetDisplayTypeName();
  if (Field)
    return formatv("({0}:{1}) {2}, in {3} byte(s) at {4:x}",
                   TypeName ? TypeName : "?", Field->Count, Name,
                   Range.Last - Range.First + 1, Range.First);
  return formatv("({0}) {1}", TypeName ? TypeName : "?", Name);
}

/// The call whose stack frame the address is in: the frame of each reaches from
/// its return address down to that of the call it made.
static Expected<std::optional<Activation>>
ownerOf(const Trace &T, uint32_t Thread, Timestamp Time, uint64_t Address) {
  Expected<Registers> R = T.registers(Thread, Time);
  if (!R)
    return R.takeError();
  constexpr uint64_t RedZone = 128;
  if (Address < R->rsp() - RedZone)
    return std::nullopt;
  Expected<std::vector<Activation>> Stack = T.callStack(Thread, Time);
  if (!Stack)
    return Stack.takeError();
  uint64_t Below = R->rsp() - RedZone;
  for (const Activation &A : *Stack) {
    if (Address >= Below && Address < A.StackPointer)
      return A;
    // Handlers may have a stack of their own.
    if (A.StackPointer < Below || A.StackPointer - Below > (64u << 20))
      return std::nullopt;
    Below = A.StackPointer;
  }
  return std::nullopt;
}

/// Why an expression's value is not in memory, and what to do.
static Error notInMemory(StringRef Name, lldb::SBValue Value) {
  StringRef Place = Value.GetLocation() ? Value.GetLocation() : "";
  if (!Place.empty() && !Place.starts_with("0x") && Place != "scalar")
    return createStringError(formatv(
        "'{0}' is in register {1} here, not in memory, so nothing writes it: "
        "step back to see it change, or use 'chronicle last-exec' on a line "
        "that sets it",
        Name, Place));
  return createStringError(
      formatv("'{0}' has no address of its own, so nothing writes it: give a "
              "variable, a member or *pointer",
              Name));
}

static Expected<lldb::SBValue> evaluate(CommandCall &Call, StringRef Name) {
  std::string Text = Name.str();
  lldb::SBFrame Frame = Call.selectedFrame();
  lldb::SBValue Value = Frame.GetValueForVariablePath(Text.c_str());
  if (Value.IsValid() && Value.GetError().Success())
    return Value;
  std::string First = errorText(Value.GetError());
  // A variable that is there but has no place gains nothing by compiling its
  // name.
  lldb::SBValue Variable = Frame.FindVariable(Text.c_str());
  if (!Variable.IsValid()) {
    Value = Frame.IsValid()
                ? Frame.EvaluateExpression(Text.c_str())
                : Call.debugger().GetSelectedTarget().EvaluateExpression(
                      Text.c_str());
    if (Value.IsValid() && Value.GetError().Success())
      return Value;
    return createStringError(formatv("'{0}' means nothing here: {1}", Name,
                                     errorText(Value.GetError())));
  }
  return createStringError(
      formatv("'{0}' has no place at this moment ({1}): the compiler optimised "
              "it away here; go to another moment or frame",
              Name, First.empty() ? "not available" : First));
}

/// If Name is a member that is a bit-field: its type, its bits and the bytes
/// that they are in, which have an address. LLDB says nothing of them but in
/// the type of the structure.
static Expected<bool> findBitField(CommandCall &Call, StringRef Name,
                                   Watched &Result) {
  size_t At = Name.find_last_of(".>");
  if (At == StringRef::npos ||
      (Name[At] == '>' && !Name.take_front(At).ends_with("-")))
    return false;
  StringRef Member = Name.substr(At + 1).trim();
  Expected<lldb::SBValue> Whole =
      evaluate(Call, Name.take_front(At).rtrim("-").trim());
  if (!Whole)
    return Whole.takeError();
  if (Whole->GetType().IsPointerType())
    Whole = Whole->Dereference();
  lldb::SBType Type = Whole->GetType().GetCanonicalType();
  for (uint32_t I = 0, N = Type.GetNumberOfFields(); I < N; ++I) {
    lldb::SBTypeMember Each = Type.GetFieldAtIndex(I);
    if (!Each.IsBitfield() || !Each.GetName() || Member != Each.GetName())
      continue;
    uint64_t First = Each.GetOffsetInBits();
    uint64_t Count = Each.GetBitfieldSizeInBits();
    uint64_t Start = Whole->GetLoadAddress();
    if (Start == LLDB_INVALID_ADDRESS || !Count)
      return false;
    Result.Type = Each.GetType();
    Result.Field = {unsigned(First % 8), unsigned(Count)};
    Result.Range = {Start + First / 8, Start + (First + Count - 1) / 8};
    return true;
  }
  return false;
}

/// The bit-field's value, as its type has it.
static std::string bitFieldText(lldb::SBTarget Target, ArrayRef<uint8_t> Bytes,
                                const Watched &What) {
  lldb::SBType Type = What.Type;
  APInt All(unsigned(Bytes.size() * 8), 0);
  for (size_t I = 0; I < Bytes.size(); ++I)
    All.insertBits(Bytes[I], unsigned(I * 8), 8);
  APInt Bits = All.extractBits(What.Field->Count, What.Field->First);
  unsigned Width = unsigned(Type.GetByteSize() * 8);
  Bits = Type.GetTypeFlags() & lldb::eTypeIsSigned ? Bits.sext(Width)
                                                   : Bits.zext(Width);
  SmallVector<uint8_t, 8> Value;
  for (unsigned I = 0; I < Width; I += 8)
    Value.push_back(uint8_t(Bits.extractBitsAsZExtValue(8, I)));
  return valueText(valueOf(Target, Value, Type));
}

Expected<Watched> watchedMemory(CommandCall &Call, LoadedTrace &Loaded) {
  Watched Result;
  Expected<uint64_t> Address = Call.number("address", 0);
  if (!Address)
    return Address.takeError();
  Expected<uint64_t> Size = Call.number("size", 8);
  if (!Size)
    return Size.takeError();
  if (Call.has("address")) {
    if (!Call.words().empty())
      return createStringError("give an expression or --address, not both");
    Result.Name = hexNumber(*Address);
  } else {
    if (Call.has("size"))
      return createStringError("--size goes with --address; an expression has "
                               "the size of its type");
    Result.Name = Call.text();
    if (Result.Name.empty())
      return createStringError("written to what? give a variable or an "
                               "expression, or -a address -s size");
    Expected<lldb::SBValue> Value = evaluate(Call, Result.Name);
    if (!Value)
      return Value.takeError();
    Expected<bool> InBits = findBitField(Call, Result.Name, Result);
    if (!InBits)
      return InBits.takeError();
    *Address = *InBits ? Result.Range.First : Value->GetLoadAddress();
    *Size = *InBits ? Result.Range.Last - Result.Range.First + 1
                    : Value->GetByteSize();
    // Of a variable in a register LLDB gives the value for its address.
    StringRef Place = Value->GetLocation() ? Value->GetLocation() : "";
    bool InRegister = Value->GetValueType() != lldb::eValueTypeConstResult &&
                      !Place.starts_with("0x");
    if (!*InBits) {
      if (*Address == LLDB_INVALID_ADDRESS || !*Size || InRegister)
        return notInMemory(Result.Name, *Value);
      Result.Type = Value->GetType();
      // Where the address and the type are not the whole truth.
      lldb::SBTarget Target = Loaded.process().GetTarget();
      lldb::SBAddress There(*Address, Target);
      lldb::SBValue Again =
          Target.CreateValueFromAddress("value", There, Result.Type);
      if (valueText(Again) != valueText(*Value))
        Result.Type = lldb::SBType();
    }
  }
  if (!*Size || *Address + (*Size - 1) < *Address)
    return createStringError("the range goes beyond the address space");
  Result.Range = {*Address, *Address + (*Size - 1)};
  Expected<std::optional<Activation>> Owner =
      ownerOf(Loaded.trace(), Call.selectedThread(Loaded),
              Loaded.position().Time, *Address);
  if (!Owner)
    return Owner.takeError();
  Result.Owner = *Owner;
  return Result;
}

Expected<std::string> valueAt(LoadedTrace &Loaded, const Watched &What,
                              Timestamp Time) {
  uint64_t Size = What.Range.Last - What.Range.First + 1;
  constexpr uint64_t MostShown = 4096;
  Expected<MemoryContents> M =
      Loaded.trace().memory(What.Range.First, std::min(Size, MostShown), Time);
  if (!M)
    return M.takeError();
  if (M->Mapped.empty())
    return "not mapped";
  if (!What.Type.IsValid())
    return valueText(ArrayRef<uint8_t>(M->Bytes));
  if (What.Field)
    return bitFieldText(Loaded.process().GetTarget(), M->Bytes, What);
  if (isPlain(What.Type))
    return valueText(
        valueOf(Loaded.process().GetTarget(), M->Bytes, What.Type));
  Expected<Scout *> There = Scout::of(Loaded);
  if (!There)
    return There.takeError();
  if (Error E = (*There)->go(Time, 0))
    return E;
  lldb::SBTarget Target = (*There)->target();
  lldb::SBAddress Place(What.Range.First, Target);
  return valueText(Target.CreateValueFromAddress("value", Place, What.Type));
}

// ---- calls ----

json::Value jsonParameters(ArrayRef<Parameter> Parameters) {
  json::Array List;
  for (const Parameter &P : Parameters)
    List.push_back(json::Object{{"name", jsonText(P.Name)},
                                {"type", jsonText(P.Type)},
                                {"value", jsonText(P.Value)}});
  return List;
}

std::string parametersText(ArrayRef<Parameter> Parameters) {
  std::string Text;
  for (const Parameter &P : Parameters)
    Text += (Text.empty() ? "" : ", ") + P.Name + "=" + P.Value;
  return Text;
}

uint64_t prologueOf(lldb::SBFunction F) {
  if (uint64_t Size = F.GetPrologueByteSize())
    return Size;
  // The first row of the line table is the prologue.
  lldb::SBLineEntry First = F.GetStartAddress().GetLineEntry();
  if (!First.IsValid())
    return 0;
  uint64_t Start = F.GetStartAddress().GetFileAddress();
  uint64_t End = First.GetEndAddress().GetFileAddress();
  return End > Start && End < F.GetEndAddress().GetFileAddress() ? End - Start
                                                                 : 0;
}

Expected<std::optional<Timestamp>>
afterPrologue(const Trace &T, const CallMoment &Call, uint64_t Prologue) {
  if (!Prologue)
    return Call.Entry;
  std::optional<Timestamp> Ready;
  uint64_t Pc = Call.Function + Prologue;
  if (Error E = T.executions(
          {Pc, Pc}, {Call.Entry, Call.Return.value_or(T.instructions())},
          Call.Thread, /*Backward=*/false, [&](const Execution &X) {
            Ready = X.Time;
            return false;
          }))
    return E;
  return Ready;
}

Expected<CallReader> CallReader::make(LoadedTrace &Loaded) {
  Expected<Scout *> There = Scout::of(Loaded);
  if (!There)
    return There.takeError();
  return CallReader(Loaded.trace(), **There);
}

Expected<CallReader::Function *> CallReader::function(const CallMoment &Call) {
  auto [It, New] = Functions.try_emplace(Call.Function);
  if (!New)
    return &It->second;
  // To where its module is loaded.
  if (Error E = There.go(Call.Entry, Call.Thread))
    return E;
  lldb::SBTarget Target = There.target();
  lldb::SBFunction F = Target.ResolveLoadAddress(Call.Function).GetFunction();
  if (F.IsValid() &&
      F.GetStartAddress().GetLoadAddress(Target) == Call.Function) {
    It->second.Known = true;
    It->second.Prologue = prologueOf(F);
    It->second.Result = F.GetType().GetFunctionReturnType();
  }
  return &It->second;
}

Expected<std::optional<lldb::SBFrame>>
CallReader::enter(const CallMoment &Call) {
  Expected<Function *> F = function(Call);
  if (!F)
    return F.takeError();
  if (!(*F)->Known)
    return std::nullopt;
  Expected<std::optional<Timestamp>> Ready =
      afterPrologue(T, Call, (*F)->Prologue);
  if (!Ready)
    return Ready.takeError();
  if (!*Ready)
    return std::nullopt;
  if (Error E = There.go(**Ready, Call.Thread))
    return E;
  lldb::SBThread Thread = There.thread();
  for (uint32_t I = 0, N = Thread.GetNumFrames(); I < N; ++I) {
    lldb::SBFrame Frame = Thread.GetFrameAtIndex(I);
    if (!Frame.IsInlined())
      return Frame;
  }
  return std::nullopt;
}

std::vector<Parameter> CallReader::parameters(lldb::SBFrame Frame) {
  std::vector<Parameter> Result;
  lldb::SBValueList List =
      Frame.GetVariables(/*arguments=*/true, /*locals=*/false,
                         /*statics=*/false, /*in_scope_only=*/true);
  for (uint32_t I = 0, N = List.GetSize(); I < N; ++I) {
    lldb::SBValue V = List.GetValueAtIndex(I);
    const char *Name = V.GetName(), *Type = V.GetTypeName();
    Result.push_back({Name ? Name : "", Type ? Type : "", valueText(V)});
  }
  return Result;
}

Expected<std::string> CallReader::result(const CallMoment &Call) {
  Expected<Function *> F = function(Call);
  if (!F)
    return F.takeError();
  lldb::SBType Type = (*F)->Result;
  if (!Type.IsValid() || !Call.Return)
    return "";
  lldb::SBType Real = Type.GetCanonicalType();
  uint64_t Size = Real.GetByteSize();
  if (!Size || Real.GetBasicType() == lldb::eBasicTypeVoid)
    return "";
  Expected<Registers> R = T.registers(Call.Thread, *Call.Return);
  if (!R)
    return R.takeError();
  uint64_t Rax = R->word(CH_OFFSET_RAX);
  ArrayRef<uint8_t> Bytes(R->State.data() + CH_OFFSET_RAX, 8);
  lldb::TypeClass Class = Real.GetTypeClass();
  bool Floating = Real.GetBasicType() == lldb::eBasicTypeFloat ||
                  Real.GetBasicType() == lldb::eBasicTypeDouble;
  if (Floating)
    Bytes = R->ymm(0);
  bool Pointer = Real.IsPointerType() || Real.IsReferenceType();
  if (isPlain(Real) && Size <= 8)
    return valueText(valueOf(There.target(), Bytes.take_front(Size), Type));
  if (Pointer) {
    if (Error E = There.go(*Call.Return, Call.Thread))
      return E;
    return valueText(valueOf(There.target(), Bytes, Type));
  }
  // Larger classes are returned in memory, whose address comes back in rax;
  // smaller ones in up to two registers, or in memory if they have a
  // constructor that copies, which the type alone does not say here.
  bool IsClass = Class & (lldb::eTypeClassClass | lldb::eTypeClassStruct |
                          lldb::eTypeClassUnion);
  if (!IsClass || Size <= 16)
    return "";
  if (Error E = There.go(*Call.Return, Call.Thread))
    return E;
  lldb::SBTarget Target = There.target();
  lldb::SBAddress Place(Rax, Target);
  return valueText(Target.CreateValueFromAddress("value", Place, Type));
}

} // namespace chronicle
