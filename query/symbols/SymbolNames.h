// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Converts the linker's names to those of the source, and compares them.

#ifndef CHRONICLE_QUERY_SYMBOLS_SYMBOLNAMES_H
#define CHRONICLE_QUERY_SYMBOLS_SYMBOLNAMES_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace chronicle::symbols {

/// The name as the source has it: demangled, without what compilers append to
/// the names of copies that they make (".isra.0").
std::string sourceName(llvm::StringRef LinkageName);

/// The same without the types of arguments.
std::string sourceNameWithoutArguments(llvm::StringRef LinkageName);

/// Whether it is a part of a function that the compiler put elsewhere (".cold",
/// ".part.0"). Its start is not the start of the function.
bool isFunctionPart(llvm::StringRef LinkageName);

/// Decides whether a linker's name is meant by what a user calls Name. It is if
/// it is the same; if it is the same when demangled and shortened by
/// shortName(), with or without argument types and template arguments; or, if
/// Unqualified, if it is a member of that name of any class or namespace.
/// Demangles only names that contain Name's identifier.
class NameMatcher {
public:
  NameMatcher(llvm::StringRef Name, bool Unqualified);
  bool operator()(llvm::StringRef LinkageName) const;

private:
  std::string Name;
  std::string Short; ///< the same by shortName()
  std::string Key;   ///< what a mangled name must contain
  bool Unqualified;
};

} // namespace chronicle::symbols

#endif
