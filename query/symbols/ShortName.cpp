// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/symbols/ShortName.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <optional>
#include <vector>

using namespace llvm;

namespace chronicle::symbols {
namespace {

bool isNameChar(char C) { return isAlnum(C) || C == '_' || C == ':'; }

/// Whether the last of a template's arguments is what the standard library
/// takes if it is left out. The arguments are short already.
bool endsInDefault(StringRef Template, ArrayRef<std::string> Arguments) {
  const std::string &First = Arguments.front();
  StringRef Last = Arguments.back();
  if (Arguments.size() == 1 || !Template.starts_with("std::"))
    return false;
  if (Last.starts_with("std::allocator<"))
    return true;
  for (StringRef Default : {"std::char_traits", "std::less", "std::hash",
                            "std::equal_to", "std::default_delete"})
    if (Last == (Default + "<" + First + ">").str())
      return true;
  StringRef Container = Template == "std::priority_queue" ? "std::vector"
                        : Template == "std::stack" || Template == "std::queue"
                            ? "std::deque"
                            : "";
  return !Container.empty() && Last == (Container + "<" + First + ">").str();
}

/// std::string for std::basic_string<char>; empty: it has no such name.
std::string aliasOf(StringRef Template, ArrayRef<std::string> Arguments) {
  if (Arguments.size() != 1 || !Template.consume_front("std::basic_"))
    return "";
  if (!is_contained({"string", "string_view", "ostream", "istream", "iostream",
                     "ofstream", "ifstream", "fstream", "ostringstream",
                     "istringstream", "stringstream", "streambuf", "filebuf",
                     "stringbuf", "ios", "regex"},
                    Template))
    return "";
  return Arguments[0] == "char"      ? ("std::" + Template).str()
         : Arguments[0] == "wchar_t" ? ("std::w" + Template).str()
                                     : "";
}

/// Goes through a text once, from bracket to bracket.
class Shortener {
public:
  explicit Shortener(StringRef Text) : Rest(Text) {}

  /// Copies up to one of the characters of Ends that is in no bracket, or to
  /// the end of the text.
  std::string until(StringRef Ends) {
    std::string Out;
    while (!Rest.empty() && !Ends.contains(Rest.front())) {
      if (isNameChar(Rest.front()))
        name(Out);
      else if (StringRef("([{").contains(Rest.front()))
        brackets(Out);
      else if (Rest.front() == '<' && !Out.empty() && isNameChar(Out.back()))
        arguments(Out);
      else
        take(Out, 1);
    }
    return Out;
  }

private:
  void take(std::string &Out, size_t Count) {
    Out += Rest.take_front(Count);
    Rest = Rest.drop_front(Count);
  }

  /// A name with its namespaces, without those that only name a version of the
  /// library. The characters of an operator are not brackets.
  void name(std::string &Out) {
    StringRef Name = Rest.take_while(isNameChar);
    Rest = Rest.drop_front(Name.size());
    std::string Kept = Name.str();
    for (StringRef Version : {"std::__cxx11::", "std::__1::"})
      for (size_t At; (At = Kept.find(Version)) != std::string::npos;)
        Kept.replace(At, Version.size(), "std::");
    Out += Kept;
    if (Name == "operator" || Name.ends_with("::operator"))
      take(Out, Rest.take_while([](char C) {
                      return StringRef("<>=-!+*/%^&|~").contains(C);
                    })
                    .size());
  }

  void brackets(std::string &Out) {
    if (Rest.consume_front("[abi:cxx11]"))
      return;
    const StringRef Close = Rest.front() == '('   ? ")"
                            : Rest.front() == '[' ? "]"
                                                  : "}";
    take(Out, 1);
    Out += until(Close);
    take(Out, Rest.empty() ? 0 : 1);
  }

  /// The arguments of the template whose name is at the end of Out.
  void arguments(std::string &Out) {
    const StringRef Before = Rest;
    take(Out, 1);
    std::vector<std::string> Arguments;
    do {
      Arguments.push_back(StringRef(until(",>")).trim().str());
    } while (Rest.consume_front(","));
    if (!Rest.consume_front(">")) { // it was no template
      Out.pop_back();
      Out += Before;
      return;
    }
    Out.pop_back();
    size_t Start = Out.size();
    while (Start && isNameChar(Out[Start - 1]))
      --Start;
    const std::string Template = Out.substr(Start);
    while (endsInDefault(Template, Arguments))
      Arguments.pop_back();
    std::string Alias = aliasOf(Template, Arguments);
    if (Alias.empty())
      Out += "<" + join(Arguments, ", ") + ">";
    else
      Out.replace(Start, std::string::npos, Alias);
  }

  StringRef Rest;
};

} // namespace

std::string shortName(StringRef Text) {
  return Text.contains("std::") || Text.contains('<') || Text.contains("[abi:")
             ? Shortener(Text).until("")
             : Text.str();
}

} // namespace chronicle::symbols
