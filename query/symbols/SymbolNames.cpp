// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/symbols/SymbolNames.h"
#include "query/symbols/ShortName.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include <cstdlib>

using namespace llvm;

namespace chronicle::symbols {

/// Turns "transfer.isra.0" into "transfer". Also drops the number after the
/// name of a variable that is static in a function.
static StringRef withoutCopySuffix(StringRef Name) {
  size_t Dot = Name.find('.', 1);
  if (Dot == StringRef::npos)
    return Name;
  StringRef Suffix = Name.substr(Dot + 1);
  for (StringRef Known :
       {"isra", "constprop", "part", "cold", "lto_priv", "llvm", "localalias"})
    if (Suffix == Known || Suffix.starts_with((Known + ".").str()))
      return Name.take_front(Dot);
  if (all_of(Suffix, isDigit))
    return Name.take_front(Dot);
  return Name;
}

bool isFunctionPart(StringRef Name) {
  return Name.contains(".cold") || Name.contains(".part.");
}

std::string sourceName(StringRef LinkageName) {
  StringRef Name = withoutCopySuffix(LinkageName);
  std::string Version;
  // Keeps "@plt" and symbol versions.
  size_t At = Name.find('@');
  if (At != StringRef::npos) {
    Version = Name.substr(At).str();
    Name = Name.take_front(At);
  }
  return demangle(std::string_view(Name)) + Version;
}

/// Copies and frees what the demangler allocated.
static std::string take(char *Text) {
  std::string Result = Text ? Text : "";
  std::free(Text);
  return Result;
}

std::string sourceNameWithoutArguments(StringRef LinkageName) {
  // The demangler keeps pointers into it.
  std::string Name = withoutCopySuffix(LinkageName).str();
  ItaniumPartialDemangler Demangler;
  if (StringRef(Name).starts_with("_Z") &&
      !Demangler.partialDemangle(Name.c_str()) && Demangler.isFunction())
    return take(Demangler.getFunctionName(nullptr, nullptr));
  return sourceName(LinkageName);
}

/// Where the bracket is opened that closes at the end of the text.
static size_t openedAt(StringRef Text, char Open, char Close) {
  int Depth = 0;
  for (size_t I = Text.size(); I-- > 0;) {
    if (Text[I] == Close)
      ++Depth;
    else if (Text[I] == Open && --Depth == 0)
      return I;
  }
  return StringRef::npos;
}

static StringRef withoutTemplateArguments(StringRef Name) {
  if (!Name.ends_with(">") || Name.contains("operator"))
    return Name;
  size_t At = openedAt(Name, '<', '>');
  return At == StringRef::npos ? Name : Name.take_front(At);
}

static StringRef withoutArguments(StringRef Name) {
  StringRef Bare = Name;
  Bare.consume_back(" const");
  if (!Bare.ends_with(")") || Bare.ends_with("operator()"))
    return Name;
  size_t At = openedAt(Bare, '(', ')');
  return At == StringRef::npos || At == 0 ? Name : Bare.take_front(At);
}

/// What follows the last "::" that is not in brackets.
static StringRef lastComponent(StringRef Name) {
  // The characters of an operator are not brackets.
  size_t Operator = Name.rfind("operator");
  if (Operator != StringRef::npos && !Name.substr(Operator).contains("::") &&
      (Operator == 0 || Name[Operator - 1] == ':'))
    return Name.substr(Operator);
  int Depth = 0;
  for (size_t I = Name.size(); I-- > 1;) {
    if (Name[I] == '>' || Name[I] == ')')
      ++Depth;
    else if (Name[I] == '<' || Name[I] == '(')
      --Depth;
    else if (Name[I] == ':' && Name[I - 1] == ':' && Depth == 0)
      return Name.substr(I + 1);
  }
  return Name;
}

NameMatcher::NameMatcher(StringRef Name, bool Unqualified)
    : Name(Name.trim().str()), Short(shortName(this->Name)),
      Unqualified(Unqualified) {
  StringRef Last =
      lastComponent(withoutTemplateArguments(withoutArguments(this->Name)));
  Last.consume_front("~");
  // Mangled names have codes instead of operators.
  if (!Last.starts_with("operator"))
    Key = Last.str();
}

bool NameMatcher::operator()(StringRef LinkageName) const {
  if (LinkageName == Name)
    return true;
  if (isFunctionPart(LinkageName))
    return false;
  StringRef Base = withoutCopySuffix(LinkageName);
  if (Base == Name)
    return true;
  if (!Base.starts_with("_Z") && !Base.starts_with("_R"))
    return false;
  if (!StringRef(Base).contains(Key))
    return false;
  if (shortName(demangle(std::string_view(Base))) == Short)
    return true;
  std::string Bare = shortName(sourceNameWithoutArguments(Base));
  StringRef General = withoutTemplateArguments(Bare);
  if (Bare == Short || General == Short)
    return true;
  return Unqualified &&
         (lastComponent(Bare) == Short || lastComponent(General) == Short ||
          StringRef(Bare).ends_with("::" + Short) ||
          General.ends_with("::" + Short));
}

} // namespace chronicle::symbols
