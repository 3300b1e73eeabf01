// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/commands/WatchedMemory.h"
#include "lldb-plugin/target/Describe.h"
#include "lldb-plugin/target/Scout.h"
#include "lldb-plugin/values/ValueText.h"
#include "query/json/JsonAnswers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace llvm;

namespace chronicle::commands {

const OptionSpec AddressOption = {
    "address", 'a', "address",
    "Memory at this address, instead of an expression. A number or an "
    "expression whose value is the address."};
const OptionSpec SizeOption = {
    "size", 's', "bytes",
    "Size of that memory (default 8). A number or an expression."};
const OptionSpec AnyTimeOption = {
    "any-time", 0, nullptr,
    "For a local variable: also outside of the present call."};

ArrayRef<OptionSpec> optionsOfOneAccess() {
  static const OptionSpec Options[] = {
      AddressOption,
      SizeOption,
      {"here", 0, nullptr,
       "What the expression means here, not the memory of the last jump."},
      NoJumpOption,
      FullOption,
      JsonOption};
  return Options;
}

using values::errorText;
using values::isInMemory;
using values::isPlain;
using values::valueOf;
using values::valueText;
using values::wholeNumber;

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
    // Nothing runs where a stray jump led. The memory below the stack pointer
    // is what the code that jumped left.
    if (A.Jumped)
      continue;
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
    return createStringError(
        formatv("'{0}' is in {1} here, and not as a whole in memory or in one "
                "register: "
                "step back to see it change, or ask for a part of it",
                Name, Place));
  return createStringError(
      formatv("'{0}' has no address of its own, so nothing writes it: give a "
              "variable, a member or *pointer",
              Name));
}

static bool isReadable(lldb::SBValue Value) {
  return Value.IsValid() && Value.GetError().Success();
}

static lldb::SBValue evaluateAsCode(CommandCall &Call, const Twine &Text) {
  lldb::SBFrame Frame = Call.selectedFrame();
  std::string Code = Text.str();
  return Frame.IsValid()
             ? Frame.EvaluateExpression(Code.c_str())
             : Call.debugger().GetSelectedTarget().EvaluateExpression(
                   Code.c_str());
}

static Error cannotEvaluate(StringRef Text, lldb::SBValue Value) {
  return createStringError(formatv("cannot evaluate '{0}' here: {1}", Text,
                                   errorText(Value.GetError())));
}

/// The value, wherever it comes from.
static Expected<lldb::SBValue> evaluate(CommandCall &Call, StringRef Text) {
  lldb::SBValue Value =
      Call.selectedFrame().GetValueForVariablePath(Text.str().c_str());
  if (!isReadable(Value))
    Value = evaluateAsCode(Call, Text);
  if (!isReadable(Value))
    return cannotEvaluate(Text, Value);
  return Value;
}

/// A reference means what it refers to. A pointer means itself: LLDB gives it
/// the type of the object that it points to, and then it has no address.
static lldb::SBValue object(lldb::SBValue Value) {
  if (Value.GetType().IsReferenceType())
    return Value.Dereference();
  return Value.GetType().IsPointerType() ? Value.GetStaticValue() : Value;
}

/// Finds the memory that the expression Result.Name names. First reads it as
/// `frame variable` does, which can name more than the language can, then as
/// `expression` does.
static Error findObject(CommandCall &Call, Watched &Result) {
  const std::string &Name = Result.Name;
  auto Take = [&](lldb::SBValue Value) {
    const uint64_t Address = Value.GetLoadAddress();
    Result.Range = {Address, Address + (Value.GetByteSize() - 1)};
    // If the memory shown as this type gives another text, the type is not the
    // whole truth.
    lldb::SBTarget Target = Value.GetTarget();
    lldb::SBValue Again = Target.CreateValueFromAddress(
        "value", lldb::SBAddress(Address, Target), Value.GetType());
    if (valueText(Again) == valueText(Value))
      Result.Type = Value.GetType();
    return Error::success();
  };
  lldb::SBFrame Frame = Call.selectedFrame();
  lldb::SBValue Path = object(Frame.GetValueForVariablePath(Name.c_str()));
  if (isReadable(Path))
    return isInMemory(Path) ? Take(Path) : notInMemory(Name, Path);
  // For a variable that exists but has no location, compiling its name does not
  // help.
  if (Frame.FindVariable(Name.c_str()).IsValid()) {
    std::string Why = errorText(Path.GetError());
    return createStringError(formatv(
        "'{0}' has no location at this moment ({1}): the compiler optimised "
        "it away here; go to another moment or frame",
        Name, Why.empty() ? "not available" : Why));
  }
  lldb::SBValue Value = object(evaluateAsCode(Call, Name));
  if (isReadable(Value) && isInMemory(Value))
    return Take(Value);
  // Its address may be known although its value is not: no memory may be mapped
  // there now.
  lldb::SBValue Address = evaluateAsCode(Call, "&(" + Name + ")");
  lldb::SBType Type = Address.GetType().GetPointeeType();
  if (isReadable(Address) && Type.IsValid() && Type.GetByteSize()) {
    const uint64_t First = Address.GetValueAsUnsigned();
    Result.Range = {First, First + (Type.GetByteSize() - 1)};
    Result.Type = Type;
    return Error::success();
  }
  return isReadable(Value) ? notInMemory(Name, Value)
                           : cannotEvaluate(Name, Value);
}

/// Splits "object.member" and "object->member". False: it is something else.
static bool splitMember(StringRef Name, StringRef &Object, StringRef &Member) {
  Name = Name.trim();
  // The result of an operator is never a bit-field that can be written.
  if (Name.starts_with("*") || Name.starts_with("&"))
    return false;
  Object = Name.rtrim("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                      "0123456789_$");
  Member = Name.drop_front(Object.size());
  Object = Object.rtrim();
  return !Member.empty() && !isDigit(Member[0]) &&
         (Object.consume_back(".") || Object.consume_back("->"));
}

/// If Name is a member that is a bit-field, finds its type, its bits and the
/// bytes they are in, which have an address. LLDB knows about bit-fields only
/// in the type of the structure.
static bool findBitField(CommandCall &Call, Watched &Result) {
  StringRef Object, Member;
  if (!splitMember(Result.Name, Object, Member))
    return false;
  Expected<lldb::SBValue> Whole = evaluate(Call, Object);
  if (!Whole) {
    consumeError(Whole.takeError()); // so it is no member of an object
    return false;
  }
  if (Whole->GetType().IsPointerType() || Whole->GetType().IsReferenceType())
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
static lldb::SBValue bitField(lldb::SBTarget Target, ArrayRef<uint8_t> Bytes,
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
  return valueOf(Target, Value, Type);
}

/// The value of an option that takes a number or an expression.
static Expected<uint64_t> numberOf(CommandCall &Call, StringRef Option,
                                   uint64_t Default) {
  uint64_t Number = Default;
  StringRef Text = Call.value(Option);
  if (!Call.has(Option) || !Text.getAsInteger(0, Number))
    return Number;
  Expected<lldb::SBValue> Value = evaluate(Call, Text);
  if (!Value)
    return Value.takeError();
  lldb::SBError Failed;
  lldb::SBValue Given = object(*Value);
  Number = Given.GetType().IsArrayType() ? Given.GetLoadAddress()
                                         : Given.GetValueAsUnsigned(Failed);
  if (Failed.Fail() || Number == LLDB_INVALID_ADDRESS)
    return createStringError(
        formatv("invalid value '{1}' of --{0}: expected a number or a pointer",
                Option, Text));
  return Number;
}

/// The memory that --address and --size name.
static Error watchAddress(CommandCall &Call, Watched &Result) {
  if (!Call.words().empty())
    return createStringError("give an expression or --address, not both");
  Expected<uint64_t> Address = numberOf(Call, "address", 0);
  if (!Address)
    return Address.takeError();
  Expected<uint64_t> Size = numberOf(Call, "size", 8);
  if (!Size)
    return Size.takeError();
  if (!*Size || *Address + (*Size - 1) < *Address)
    return createStringError("the range goes beyond the address space");
  Result.Name = jsonapi::hexNumber(*Address);
  Result.Range = {*Address, *Address + (*Size - 1)};
  return Error::success();
}

/// The memory that the words name.
static Error watchExpression(CommandCall &Call, Watched &Result) {
  if (Call.has("size"))
    return createStringError("--size needs --address; an expression has "
                             "the size of its type");
  Result.Name = Call.text();
  if (Result.Name.empty())
    return createStringError("missing argument: give a variable or an "
                             "expression, or -a address -s size");
  if (findBitField(Call, Result))
    return Error::success();
  return findObject(Call, Result);
}

Expected<Watched> watchedMemory(CommandCall &Call,
                                target::LoadedTrace &Loaded) {
  Watched Result;
  if (Error E = Call.has("address") ? watchAddress(Call, Result)
                                    : watchExpression(Call, Result))
    return E;
  Expected<std::optional<answers::Activation>> Owner =
      ownerOf(Loaded.trace(), Call.selectedThread(Loaded),
              Loaded.position().Time, Result.Range.First);
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
    return valueText(bitField(Loaded.process().GetTarget(), M->Bytes, What));
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

Expected<std::optional<APSInt>> numberAt(target::LoadedTrace &Loaded,
                                         const Watched &What, Timestamp Time) {
  const uint64_t Size = What.Range.Last - What.Range.First + 1;
  auto NoNumber = [&] {
    return createStringError(What.title() +
                             " is neither a whole number nor a pointer");
  };
  if (Size > 16)
    return NoNumber();
  Expected<answers::MemoryContents> M =
      Loaded.trace().memory(What.Range.First, Size, Time);
  if (!M)
    return M.takeError();
  if (M->Mapped.empty())
    return std::nullopt;
  if (!What.Type.IsValid()) {
    if (Size > 8)
      return NoNumber();
    uint64_t Value = 0;
    llvm::copy(M->Bytes, reinterpret_cast<uint8_t *>(&Value));
    return APSInt::getUnsigned(Value);
  }
  lldb::SBTarget Target = Loaded.process().GetTarget();
  std::optional<APSInt> Number =
      wholeNumber(What.Field ? bitField(Target, M->Bytes, What)
                             : valueOf(Target, M->Bytes, What.Type));
  if (!Number)
    return NoNumber();
  return Number;
}

// ---- after a jump ----

namespace {
/// What a jump to a write was about, and where it went.
struct Asked {
  std::string Expression;
  Watched What;
  session::Position There;
};
} // namespace

/// By LLDB's unique number of the process. Commands run one at a time.
static std::map<uint32_t, Asked> &lastAsked() {
  static auto *Map = new std::map<uint32_t, Asked>();
  return *Map;
}

/// What was asked before, if the user has neither moved nor selected another
/// frame since.
static const Asked *askedBefore(CommandCall &Call,
                                target::LoadedTrace &Loaded) {
  auto It = lastAsked().find(Loaded.process().GetUniqueID());
  if (It == lastAsked().end() || Call.has("here") || Call.has("address"))
    return nullptr;
  const Asked &Before = It->second;
  session::Position Here = Loaded.position();
  bool Moved = Here.Time != Before.There.Time ||
               (Before.There.Thread && Here.Thread != Before.There.Thread) ||
               Call.selectedThread(Loaded) != Here.Thread ||
               Call.selectedFrame().GetFrameID() != 0;
  return !Moved && Before.Expression == Call.text() ? &Before : nullptr;
}

bool watchesBefore(CommandCall &Call, target::LoadedTrace &Loaded) {
  return askedBefore(Call, Loaded);
}

Expected<WatchedAgain> watchedAgain(CommandCall &Call,
                                    target::LoadedTrace &Loaded) {
  const Asked *Before = askedBefore(Call, Loaded);
  Expected<Watched> Here = watchedMemory(Call, Loaded);
  if (!Before) {
    if (!Here)
      return Here.takeError();
    return WatchedAgain{std::move(*Here), ""};
  }
  WatchedAgain Result{Before->What, ""};
  const answers::AddressRange &Range = Before->What.Range;
  if (Here && Here->Range.First == Range.First &&
      Here->Range.Last == Range.Last)
    return Result;
  std::string Meaning = Here ? formatv("is at {0:x} ('--here' asks about that)",
                                       Here->Range.First)
                                   .str()
                             : "means nothing";
  consumeError(Here.takeError());
  Result.Note = formatv("as before the jump, this is the memory at {0:x}, {1} "
                        "byte(s); here {2} {3}",
                        Range.First, Range.Last - Range.First + 1,
                        Before->Expression, Meaning);
  return Result;
}

void rememberWatched(CommandCall &Call, target::LoadedTrace &Loaded,
                     const Watched &What, session::Position There) {
  uint32_t Process = Loaded.process().GetUniqueID();
  if (Call.has("address"))
    lastAsked().erase(Process);
  else
    lastAsked()[Process] = {Call.text(), What, There};
}

} // namespace chronicle::commands
