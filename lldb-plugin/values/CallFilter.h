// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A condition on the parameters of calls.

#ifndef CHRONICLE_LLDB_PLUGIN_VALUES_CALLFILTER_H
#define CHRONICLE_LLDB_PLUGIN_VALUES_CALLFILTER_H

#include "lldb/API/LLDB.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace chronicle::values {

/// Comparisons of names with whole numbers, joined by &&, are evaluated here,
/// in microseconds per call. LLDB compiles and interprets anything else at each
/// call, which takes milliseconds.
class CallFilter {
public:
  /// An empty expression wants all calls.
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
  /// Nothing: not a number, so that LLDB must evaluate it.
  static std::optional<bool> holds(const Comparison &C, lldb::SBFrame Frame);

  std::string Expression;
  std::vector<Comparison> Comparisons; ///< all that it is made of, or none
};

} // namespace chronicle::values

#endif
