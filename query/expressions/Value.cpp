// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/expressions/Value.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::expressions {

double Value::number() const {
  return Of->Size == sizeof(float) ? double(bit_cast<float>(uint32_t(Bits)))
                                   : bit_cast<double>(Bits);
}

bool Value::isTrue() const {
  return Of->What == Type::Kind::Float ? number() != 0 : Bits != 0;
}

static const std::string *enumeratorOf(const Value &V) {
  const auto It = find_if(V.Of->Enumerators,
                          [&](const auto &E) { return E.first == V.Bits; });
  return It == V.Of->Enumerators.end() ? nullptr : &It->second;
}

static std::string numberText(const Value &V) {
  return V.Of->Signed ? std::to_string(int64_t(V.Bits))
                      : std::to_string(V.Bits);
}

/// Nothing: it takes an escape sequence.
static std::optional<std::string> characterText(const Value &V) {
  const char C = char(V.Bits);
  if (C == 0)
    return "'\\0'";
  if (!isPrint(C) || C == '\'' || C == '\\')
    return std::nullopt;
  return std::string("'") + C + "'";
}

Expected<std::optional<std::string>>
pointedText(const Value &V, StateReader &State, size_t Most) {
  constexpr size_t Step = 32;
  std::string Text;
  for (uint64_t At = V.Bits; Text.size() <= Most;) {
    // Not beyond the page: the next one may not be mapped.
    const size_t Size = std::min<uint64_t>(Step, 4096 - At % 4096);
    uint8_t Bytes[Step];
    Expected<bool> Mapped =
        State.read(At, MutableArrayRef<uint8_t>(Bytes, Size));
    if (!Mapped)
      return Mapped.takeError();
    if (!*Mapped)
      return std::nullopt;
    for (uint8_t B : ArrayRef<uint8_t>(Bytes, Size)) {
      if (!B)
        return Text;
      Text.push_back(char(B));
    }
    At += Size;
  }
  return std::nullopt;
}

/// A pointer to a class may have a formatter that shows what it points to.
static std::optional<std::string> pointerText(const Value &V,
                                              StateReader &State) {
  std::string Text = "0x" + utohexstr(V.Bits, /*LowerCase=*/true, 16);
  const Type *To = V.Target;
  if (!To)
    return std::nullopt;
  if (To->What == Type::Kind::Character) {
    constexpr size_t Most = 256;
    if (!V.Bits)
      return Text;
    Expected<std::optional<std::string>> Pointed = pointedText(V, State, Most);
    if (!Pointed) {
      consumeError(Pointed.takeError()); // LLDB reports it
      return std::nullopt;
    }
    if (!*Pointed || any_of(**Pointed, [](char C) {
          return !isPrint(C) || C == '"' || C == '\\';
        }))
      return std::nullopt;
    return Text + " \"" + **Pointed + "\"";
  }
  const bool Plain =
      To->isWhole() || To->What == Type::Kind::Float ||
      To->What == Type::Kind::Pointer || To->Name == "void" ||
      (To->What == Type::Kind::Class && !StringRef(To->Name).contains("std::"));
  return Plain ? std::optional(Text) : std::nullopt;
}

std::optional<std::string> lldbText(const Value &V, StateReader &State) {
  switch (V.Of->What) {
  case Type::Kind::Integer:
    return numberText(V);
  case Type::Kind::Boolean:
    return V.Bits <= 1 ? std::optional<std::string>(V.Bits ? "true" : "false")
                       : std::nullopt;
  case Type::Kind::Character:
    return characterText(V);
  case Type::Kind::Enumeration: {
    const std::string *Name = enumeratorOf(V);
    return Name ? std::optional(*Name) : std::nullopt;
  }
  case Type::Kind::Pointer:
    return pointerText(V, State);
  default:
    return std::nullopt;
  }
}

std::string plainText(const Value &V) {
  switch (V.Of->What) {
  case Type::Kind::Boolean:
    if (V.Bits <= 1)
      return V.Bits ? "true" : "false";
    break;
  case Type::Kind::Enumeration:
    if (const std::string *Name = enumeratorOf(V))
      return *Name;
    break;
  case Type::Kind::Pointer:
    return "0x" + utohexstr(V.Bits, /*LowerCase=*/true);
  case Type::Kind::Float: {
    char Text[40];
    (void)snprintf(Text, sizeof(Text),
                   V.Of->Size == sizeof(float) ? "%.9g" : "%.17g", V.number());
    return Text;
  }
  default:
    break;
  }
  return numberText(V);
}

} // namespace chronicle::expressions
