// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The linker's names and the source's.

#ifndef CHRONICLE_QUERY_SYMBOLNAMES_H
#define CHRONICLE_QUERY_SYMBOLNAMES_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace chronicle {

/// The name as the source has it: demangled, without what compilers append to
/// the names of the copies they make (".isra.0").
std::string sourceName(llvm::StringRef LinkageName);

/// The same without the types of arguments.
std::string sourceNameWithoutArguments(llvm::StringRef LinkageName);

/// Part of a function that the compiler put elsewhere (".cold", ".part.0"): its
/// start is not the function's.
bool isFunctionPart(llvm::StringRef LinkageName);

/// Decides whether linker's names are those of what a person calls Name: the
/// same; or demangled the same, with or without argument types and template
/// arguments; or, if Unqualified, a member of any class or namespace. Demangles
/// only names that have Name's identifier in them.
class NameMatcher {
public:
  NameMatcher(llvm::StringRef Name, bool Unqualified);
  bool operator()(llvm::StringRef LinkageName) const;

private:
  std::string Name;
  std::string Key; ///< what a mangled name must have in it
  bool Unqualified;
};

} // namespace chronicle

#endif
