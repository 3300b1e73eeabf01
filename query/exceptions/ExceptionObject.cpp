// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "query/exceptions/ExceptionObject.h"
#include "query/symbols/Symbols.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/Endian.h"

using namespace llvm;

namespace chronicle::exceptions {

/// Nothing: some of it is not mapped.
static Expected<std::optional<std::vector<uint8_t>>>
bytesAt(const query::Trace &T, uint64_t Address, uint64_t Length,
        Timestamp At) {
  Expected<answers::MemoryContents> M = T.memory(Address, Length, At);
  if (!M)
    return M.takeError();
  uint64_t Mapped = 0;
  for (const auto &[First, Last] : M->Mapped)
    Mapped += Last - First;
  if (Mapped != Length)
    return std::nullopt;
  return std::move(M->Bytes);
}

static Expected<std::optional<uint64_t>>
wordAt(const query::Trace &T, uint64_t Address, Timestamp At) {
  Expected<std::optional<std::vector<uint8_t>>> Bytes =
      bytesAt(T, Address, 8, At);
  if (!Bytes)
    return Bytes.takeError();
  if (!*Bytes)
    return std::nullopt;
  return support::endian::read64le((*Bytes)->data());
}

Expected<std::optional<std::string>> textAt(const query::Trace &T,
                                            uint64_t Address, Timestamp At) {
  constexpr uint64_t Page = 4096, Longest = 4096;
  std::string Text;
  while (Text.size() < Longest) {
    const uint64_t From = Address + Text.size();
    Expected<std::optional<std::vector<uint8_t>>> Some =
        bytesAt(T, From, Page - From % Page, At);
    if (!Some)
      return Some.takeError();
    if (!*Some)
      return std::nullopt;
    StringRef Part = toStringRef(**Some);
    Text += Part.take_until([](char C) { return !C; });
    if (Part.contains('\0'))
      return Text;
  }
  return std::nullopt;
}

// Offsets from the header that the unwinder gets, which is the last member of
// what the C++ runtime keeps in front of the object.
static constexpr uint64_t HeaderSize = 32, TypeBeforeHeader = 80;

static std::string typeNameOf(StringRef Mangled) {
  std::string Name = demangle(("_ZTI" + Mangled).str());
  StringRef Shown = Name;
  return Shown.consume_front("typeinfo for ") ? Shown.str() : Mangled.str();
}

Expected<std::optional<ExceptionObject>>
ExceptionObject::at(const query::Trace &T, uint64_t Header, Timestamp At) {
  Expected<std::optional<uint64_t>> Class = wordAt(T, Header, At);
  if (!Class)
    return Class.takeError();
  // The vendor's four letters, "C++" and 0, or 1 for an exception that stands
  // for another one (std::rethrow_exception).
  constexpr uint64_t Language = 0x432b2b00;
  if (!*Class || (**Class & 0xffffff00) != Language)
    return std::nullopt;
  Expected<std::optional<uint64_t>> Type =
      wordAt(T, Header - TypeBeforeHeader, At);
  if (!Type)
    return Type.takeError();
  ExceptionObject Result(T, At);
  Result.Object = Header + HeaderSize;
  if ((**Class & 0xff) && *Type) {
    Result.Object = **Type;
    Type = wordAt(T, Result.Object - HeaderSize - TypeBeforeHeader, At);
    if (!Type)
      return Type.takeError();
  }
  if (!*Type)
    return Result;
  Result.TypeInfo = **Type;
  Expected<std::optional<uint64_t>> Name = wordAt(T, Result.TypeInfo + 8, At);
  if (!Name)
    return Name.takeError();
  if (!*Name)
    return Result;
  Expected<std::optional<std::string>> Text = textAt(T, **Name, At);
  if (!Text)
    return Text.takeError();
  if (*Text) {
    // A star marks a type that is local to its file.
    Result.Mangled = StringRef(**Text).ltrim('*').str();
    Result.Name = typeNameOf(Result.Mangled);
  }
  return Result;
}

/// Where std::exception is in an object of the class that Info describes.
Expected<std::optional<uint64_t>>
ExceptionObject::baseOffset(uint64_t Info, unsigned Depth) const {
  constexpr unsigned Deepest = 32, MostBases = 64;
  if (Depth > Deepest)
    return std::nullopt;
  Expected<std::optional<uint64_t>> Name = wordAt(T, Info + 8, At);
  if (!Name)
    return Name.takeError();
  Expected<std::optional<uint64_t>> Table = wordAt(T, Info, At);
  if (!Table)
    return Table.takeError();
  if (!*Name || !*Table)
    return std::nullopt;
  Expected<std::optional<std::string>> Text = textAt(T, **Name, At);
  if (!Text)
    return Text.takeError();
  if (*Text == "St9exception")
    return 0;
  // The class of the type_info says how many bases there are.
  std::optional<symbols::SymbolAt> Kind = T.symbols().findGlobal(**Table, At);
  if (!Kind)
    return std::nullopt;
  if (Kind->LinkageName == "_ZTVN10__cxxabiv120__si_class_type_infoE") {
    Expected<std::optional<uint64_t>> Base = wordAt(T, Info + 16, At);
    if (!Base)
      return Base.takeError();
    if (!*Base)
      return std::nullopt;
    return baseOffset(**Base, Depth + 1);
  }
  if (Kind->LinkageName != "_ZTVN10__cxxabiv121__vmi_class_type_infoE")
    return std::nullopt;
  Expected<std::optional<uint64_t>> Count = wordAt(T, Info + 16, At);
  if (!Count)
    return Count.takeError();
  if (!*Count)
    return std::nullopt;
  for (uint64_t I = 0; I < std::min<uint64_t>(**Count >> 32, MostBases); ++I) {
    Expected<std::optional<uint64_t>> Base = wordAt(T, Info + 24 + I * 16, At);
    if (!Base)
      return Base.takeError();
    Expected<std::optional<uint64_t>> Flags = wordAt(T, Info + 32 + I * 16, At);
    if (!Flags)
      return Flags.takeError();
    constexpr uint64_t Virtual = 1;
    if (!*Base || !*Flags || (**Flags & Virtual))
      continue;
    Expected<std::optional<uint64_t>> Inside = baseOffset(**Base, Depth + 1);
    if (!Inside || *Inside)
      return Inside ? Expected<std::optional<uint64_t>>(
                          **Inside + uint64_t(int64_t(**Flags) >> 8))
                    : Inside.takeError();
  }
  return std::nullopt;
}

Expected<std::optional<ExceptionObject::WhatFunction>>
ExceptionObject::whatFunction() const {
  if (!TypeInfo)
    return std::nullopt;
  Expected<std::optional<uint64_t>> Offset = baseOffset(TypeInfo, 0);
  if (!Offset)
    return Offset.takeError();
  if (!*Offset)
    return std::nullopt;
  const uint64_t This = Object + **Offset;
  Expected<std::optional<uint64_t>> Table = wordAt(T, This, At);
  if (!Table)
    return Table.takeError();
  if (!*Table)
    return std::nullopt;
  // Behind the two destructors.
  Expected<std::optional<uint64_t>> Code = wordAt(T, **Table + 16, At);
  if (!Code)
    return Code.takeError();
  if (!*Code)
    return std::nullopt;
  return WhatFunction{**Code, This};
}

/// The number that is in the object, if its type is one of the language's.
static std::optional<std::string> numberText(StringRef Mangled, uint64_t Word) {
  if (Mangled.size() != 1)
    return std::nullopt;
  switch (Mangled[0]) {
  case 'b':
    return Word & 0xff ? "true" : "false";
  case 'c':
  case 'a':
    return std::to_string(int8_t(Word));
  case 'h':
    return std::to_string(uint8_t(Word));
  case 's':
    return std::to_string(int16_t(Word));
  case 't':
    return std::to_string(uint16_t(Word));
  case 'i':
    return std::to_string(int32_t(Word));
  case 'j':
    return std::to_string(uint32_t(Word));
  case 'l':
  case 'x':
    return std::to_string(int64_t(Word));
  case 'm':
  case 'y':
    return std::to_string(Word);
  }
  return std::nullopt;
}

Expected<std::optional<std::string>> ExceptionObject::message() const {
  Expected<std::optional<uint64_t>> Word = wordAt(T, Object, At);
  if (!Word)
    return Word.takeError();
  if (!*Word)
    return std::nullopt;
  if (std::optional<std::string> Number = numberText(Mangled, **Word))
    return Number;
  constexpr StringRef String =
      "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";
  if (Mangled == "PKc" || Mangled == "Pc" || Mangled == String)
    return textAt(T, **Word, At);
  Expected<std::optional<WhatFunction>> What = whatFunction();
  if (!What)
    return What.takeError();
  if (!*What)
    return std::nullopt;
  std::optional<symbols::CodeSymbol> Symbol =
      T.symbols().find((*What)->Code, At);
  StringRef Name = Symbol ? StringRef(Symbol->Frames.back().LinkageName) : "";
  if (Name != "_ZNKSt13runtime_error4whatEv" &&
      Name != "_ZNKSt11logic_error4whatEv")
    return std::nullopt;
  // Both libraries keep a pointer to the text behind the table of functions.
  Expected<std::optional<uint64_t>> Text = wordAt(T, (*What)->This + 8, At);
  if (!Text)
    return Text.takeError();
  if (!*Text)
    return std::nullopt;
  return textAt(T, **Text, At);
}

} // namespace chronicle::exceptions
