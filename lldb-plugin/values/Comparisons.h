// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Conditions that need no LLDB: comparisons of names with whole numbers and
/// with each other.

#ifndef CHRONICLE_LLDB_PLUGIN_VALUES_COMPARISONS_H
#define CHRONICLE_LLDB_PLUGIN_VALUES_COMPARISONS_H

#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace chronicle::values {

/// Comparisons, joined by &&. To evaluate them takes microseconds.
class Comparisons {
public:
  /// Names, or names with members and elements behind them (this->Size).
  enum class What { Names, Paths };
  /// Nothing: the text is something else.
  static std::optional<Comparisons> parse(llvm::StringRef Text,
                                          What Compared = What::Names);

  /// The value of a name; nothing: it has none, or is not a whole number.
  using Values =
      llvm::function_ref<std::optional<llvm::APSInt>(llvm::StringRef)>;
  /// Whether all hold. Nothing: a value is missing, or C would convert a
  /// negative number to a large one before it compares.
  std::optional<bool> hold(Values Of) const;
  /// The names that are compared, some perhaps twice.
  std::vector<llvm::StringRef> names() const;

private:
  struct Comparison {
    std::string Left;
    std::string Order; ///< ==, !=, <, <=, >, >=
    std::string Right; ///< a name; empty: the number
    int64_t Number = 0;
  };
  static std::optional<Comparison> parseOne(llvm::StringRef Text,
                                            What Compared);
  static std::optional<bool> holds(const Comparison &C, Values Of);

  std::vector<Comparison> All;
};

} // namespace chronicle::values

#endif
