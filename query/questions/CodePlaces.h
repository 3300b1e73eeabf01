// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Which code a question is about: addresses for functions and source lines.

#ifndef CHRONICLE_QUERY_QUESTIONS_CODEPLACES_H
#define CHRONICLE_QUERY_QUESTIONS_CODEPLACES_H

#include "query/Trace.h"
#include "query/symbols/InlinedCode.h"
#include <variant>

namespace chronicle::questions {

/// Code, and the time during which it was at that address.
struct CodePlace {
  answers::AddressRange Range;
  answers::TimeRange When;
  /// The whole code of the inlined function that starts here, if one does.
  std::optional<symbols::InlinedCode> Inlined = std::nullopt;
};

/// A function, with the places where it was inlined. If no function has the
/// name, it may be a pattern with *, ? or [...]: then all functions that match
/// it, but not where they were inlined.
struct FunctionName {
  std::string Name;
  bool Whole = false; ///< all its instructions, not only the first one
};

/// The first instructions of the line's code.
struct SourceLine {
  std::string File;
  uint32_t Line = 0;
};

using CodeSelector =
    std::variant<answers::AddressRange, FunctionName, SourceLine>;

/// "no function is called 'totl' in …; did you mean 'total'?" Costs a look at
/// every name in the symbol tables.
std::string unknownFunction(const query::Trace &T, llvm::StringRef Name);

/// The code that people write as "file:line", an address, or a function.
llvm::Expected<CodeSelector> parseCode(llvm::StringRef Text);

/// Where that code was during When: sorted, without overlap. A function that
/// the dynamic linker chose (ifunc) is where its resolver put it, which costs a
/// search for calls of the resolver.
llvm::Expected<std::vector<CodePlace>>
findCode(const query::Trace &T, const CodeSelector &Code,
         answers::TimeRange When, const answers::Cancellation &Cancel);

} // namespace chronicle::questions

#endif
