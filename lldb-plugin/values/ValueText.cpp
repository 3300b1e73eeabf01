// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/values/ValueText.h"
#include "llvm/ADT/StringRef.h"

using namespace llvm;

namespace chronicle::values {

static StringRef messageOf(const lldb::SBError &E) {
  const char *Text = E.GetCString();
  return StringRef(Text ? Text : "").trim();
}

/// LLDB has compiled the expression and cannot interpret it.
static bool needsToRun(StringRef Message) {
  return Message.contains("without a running target");
}

std::string errorText(const lldb::SBError &E) {
  StringRef All = messageOf(E);
  // The compiler prints a page of text. The error is in a line like "error:
  // <user expression 0>:1:1: use of ...".
  size_t At = All.find("error: <user expression");
  if (At != StringRef::npos) {
    StringRef Line = All.substr(At).split('\n').first;
    StringRef Why = Line.split(">:").second.split(": ").second;
    return Why.contains("invalid use of 'this'") ? "'this' is not known there"
                                                 : Why.str();
  }
  if (needsToRun(All))
    return "code would have to run in the process, which a trace cannot: "
           "expressions have no calls and no string literals";
  return All.rsplit("error: ").second.empty()
             ? All.str()
             : All.rsplit("error: ").second.str();
}

bool isCompiled(const lldb::SBError &E) {
  StringRef All = messageOf(E);
  return !All.contains("error: <user expression") && !needsToRun(All);
}

std::string valueText(lldb::SBValue Value) {
  // Three levels of members are enough for one line.
  constexpr unsigned MostMembers = 8, MostDepth = 3;
  auto Text = [&](auto &&Self, lldb::SBValue V, unsigned Depth) -> std::string {
    if (V.GetError().Fail())
      return "<" + errorText(V.GetError()) + ">";
    const char *Plain = V.GetValue(), *Summary = V.GetSummary();
    // The summary of std::optional does not have what it holds.
    if (!Plain && Summary && StringRef(Summary).trim() == "Has Value=true" &&
        V.GetNumChildren() == 1 && Depth < MostDepth)
      return Self(Self, V.GetChildAtIndex(0), Depth + 1);
    if (Plain || Summary)
      return std::string(Plain ? Plain : "") + (Plain && Summary ? " " : "") +
             // LLDB's summary of std::optional begins with a space.
             StringRef(Summary ? Summary : "").ltrim().str();
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

bool isPlain(lldb::SBType Type) {
  lldb::TypeClass Class = Type.GetCanonicalType().GetTypeClass();
  return Class == lldb::eTypeClassBuiltin ||
         Class == lldb::eTypeClassEnumeration;
}

lldb::SBValue valueOf(lldb::SBTarget Target, ArrayRef<uint8_t> Bytes,
                      lldb::SBType Type) {
  lldb::SBData Data;
  lldb::SBError Failed;
  Data.SetDataWithOwnership(Failed, Bytes.data(), Bytes.size(),
                            lldb::eByteOrderLittle, 8);
  return Target.CreateValueFromData("value", Data, Type);
}

std::optional<APSInt> wholeNumber(lldb::SBValue V) {
  lldb::SBError Failed;
  if (V.GetError().Fail())
    return std::nullopt;
  if (V.GetType().IsPointerType()) {
    uint64_t Address = V.GetValueAsUnsigned(Failed);
    if (Failed.Fail())
      return std::nullopt;
    return APSInt::getUnsigned(Address);
  }
  lldb::SBType Type = V.GetType().GetCanonicalType();
  if (Type.GetTypeClass() == lldb::eTypeClassEnumeration)
    Type = Type.GetEnumerationIntegerType().GetCanonicalType();
  switch (Type.GetBasicType()) {
  case lldb::eBasicTypeChar:
  case lldb::eBasicTypeSignedChar:
  case lldb::eBasicTypeShort:
  case lldb::eBasicTypeInt:
  case lldb::eBasicTypeLong:
  case lldb::eBasicTypeLongLong: {
    int64_t Value = V.GetValueAsSigned(Failed);
    if (Failed.Fail())
      return std::nullopt;
    return APSInt::get(Value);
  }
  case lldb::eBasicTypeUnsignedChar:
  case lldb::eBasicTypeUnsignedShort:
  case lldb::eBasicTypeBool: {
    // Promoted to int, so that comparisons with a negative number are right.
    uint64_t Value = V.GetValueAsUnsigned(Failed);
    if (Failed.Fail())
      return std::nullopt;
    return APSInt::get(int64_t(Value));
  }
  case lldb::eBasicTypeUnsignedInt:
  case lldb::eBasicTypeUnsignedLong:
  case lldb::eBasicTypeUnsignedLongLong: {
    uint64_t Value = V.GetValueAsUnsigned(Failed);
    if (Failed.Fail())
      return std::nullopt;
    return APSInt::getUnsigned(Value);
  }
  default:
    return std::nullopt;
  }
}

bool isInMemory(lldb::SBValue Value) {
  const uint64_t Address = Value.GetLoadAddress();
  if (!Value.IsValid() || Address == LLDB_INVALID_ADDRESS ||
      !Value.GetByteSize())
    return false;
  // For a variable in a register LLDB returns the value as its address.
  StringRef Place = Value.GetLocation() ? Value.GetLocation() : "";
  return Value.GetValueType() == lldb::eValueTypeConstResult ||
         Place.starts_with("0x");
}

} // namespace chronicle::values
