// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Which calls are wanted: an expression over their parameters.

#ifndef CHRONICLE_LLDB_PLUGIN_CALLFILTER_H
#define CHRONICLE_LLDB_PLUGIN_CALLFILTER_H

#include "lldb/API/LLDB.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace chronicle {

/// Comparisons of names with whole numbers, joined by &&, are made here, in
/// microseconds. Everything else LLDB compiles and interprets at each call, in
/// milliseconds.
class CallFilter {
public:
  /// Empty: all are wanted.
  explicit CallFilter(llvm::StringRef Expression);

  bool empty() const { return Expression.empty(); }
  bool isSimple() const { return !Comparisons.empty(); }
  llvm::Expected<bool> wants(lldb::SBFrame Frame) const;

private:
  struct Comparison {
    std::string Name;  ///< of a parameter
    std::string Order; ///< ==, !=, <, <=, >, >=
    int64_t Number;
  };
  static std::optional<Comparison> comparison(llvm::StringRef Text);
  /// Nothing: not a number, LLDB must say.
  static std::optional<bool> holds(const Comparison &C, lldb::SBFrame Frame);

  std::string Expression;
  std::vector<Comparison> Comparisons; ///< all that it is made of, or none
};

} // namespace chronicle

#endif
