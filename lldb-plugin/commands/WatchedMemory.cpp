// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/commands/WatchedMemory.h"
#include "lldb-plugin/target/Describe.h"
#include "lldb-plugin/target/Scout.h"
#include "lldb-plugin/values/ValueText.h"
#include "query/json/JsonAnswers.h"
#include "llvm/ADT/APInt.h"

using namespace llvm;

namespace chronicle::commands {

using values::errorText;
using values::isPlain;
using values::valueOf;
using values::valueText;

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

/// The call whose stack frame the address is in. A frame reaches from its
/// return address down to that of the call it made.
static Expected<std::optional<answers::Activation>>
ownerOf(const query::Trace &T, uint32_t Thread, Timestamp Time,
        uint64_t Address) {
  Expected<answers::Registers> R = T.registers(Thread, Time);
  if (!R)
    return R.takeError();
  constexpr uint64_t RedZone = 128;
  if (Address < R->rsp() - RedZone)
    return std::nullopt;
  Expected<std::vector<answers::Activation>> Stack = T.callStack(Thread, Time);
  if (!Stack)
    return Stack.takeError();
  uint64_t Below = R->rsp() - RedZone;
  for (const answers::Activation &A : *Stack) {
    if (Address >= Below && Address < A.StackPointer)
      return A;
    // A signal handler may have a stack of its own.
    if (A.StackPointer < Below || A.StackPointer - Below > (64u << 20))
      return std::nullopt;
    Below = A.StackPointer;
  }
  return std::nullopt;
}

/// Explains why an expression's value is not in memory, and what to do.
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
  // For a variable that exists but has no location, compiling its name does not
  // help.
  lldb::SBValue Variable = Frame.FindVariable(Text.c_str());
  if (!Variable.IsValid()) {
    Value = Frame.IsValid()
                ? Frame.EvaluateExpression(Text.c_str())
                : Call.debugger().GetSelectedTarget().EvaluateExpression(
                      Text.c_str());
    if (Value.IsValid() && Value.GetError().Success())
      return Value;
    return createStringError(formatv("cannot evaluate '{0}' here: {1}", Name,
                                     errorText(Value.GetError())));
  }
  return createStringError(formatv(
      "'{0}' has no location at this moment ({1}): the compiler optimised "
      "it away here; go to another moment or frame",
      Name, First.empty() ? "not available" : First));
}

/// If Name is a member that is a bit-field, finds its type, its bits and the
/// bytes they are in, which have an address. LLDB knows about bit-fields only
/// in the type of the structure.
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

/// The bit-field's value, according to its type.
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

Expected<Watched> watchedMemory(CommandCall &Call,
                                target::LoadedTrace &Loaded) {
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
    Result.Name = jsonapi::hexNumber(*Address);
  } else {
    if (Call.has("size"))
      return createStringError("--size needs --address; an expression has "
                               "the size of its type");
    Result.Name = Call.text();
    if (Result.Name.empty())
      return createStringError("missing argument: give a variable or an "
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
    // For a variable in a register LLDB returns the value as its address.
    StringRef Place = Value->GetLocation() ? Value->GetLocation() : "";
    bool InRegister = Value->GetValueType() != lldb::eValueTypeConstResult &&
                      !Place.starts_with("0x");
    if (!*InBits) {
      if (*Address == LLDB_INVALID_ADDRESS || !*Size || InRegister)
        return notInMemory(Result.Name, *Value);
      Result.Type = Value->GetType();
      // If the memory shown as this type gives another text, the type is not
      // the whole truth.
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
  Expected<std::optional<answers::Activation>> Owner =
      ownerOf(Loaded.trace(), Call.selectedThread(Loaded),
              Loaded.position().Time, *Address);
  if (!Owner)
    return Owner.takeError();
  Result.Owner = *Owner;
  return Result;
}

Expected<std::string> valueAt(target::LoadedTrace &Loaded, const Watched &What,
                              Timestamp Time) {
  uint64_t Size = What.Range.Last - What.Range.First + 1;
  constexpr uint64_t MostShown = 4096;
  Expected<answers::MemoryContents> M =
      Loaded.trace().memory(What.Range.First, std::min(Size, MostShown), Time);
  if (!M)
    return M.takeError();
  if (M->Mapped.empty())
    return "not mapped";
  if (!What.Type.IsValid())
    return target::valueText(ArrayRef<uint8_t>(M->Bytes));
  if (What.Field)
    return bitFieldText(Loaded.process().GetTarget(), M->Bytes, What);
  if (isPlain(What.Type))
    return valueText(
        valueOf(Loaded.process().GetTarget(), M->Bytes, What.Type));
  Expected<target::Scout *> There = target::Scout::of(Loaded);
  if (!There)
    return There.takeError();
  if (Error E = (*There)->go(Time, 0))
    return E;
  lldb::SBTarget Target = (*There)->target();
  lldb::SBAddress Place(What.Range.First, Target);
  return valueText(Target.CreateValueFromAddress("value", Place, What.Type));
}

} // namespace chronicle::commands
