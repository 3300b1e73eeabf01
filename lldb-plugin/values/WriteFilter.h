// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A condition on the values before and after a write.

#ifndef CHRONICLE_LLDB_PLUGIN_VALUES_WRITEFILTER_H
#define CHRONICLE_LLDB_PLUGIN_VALUES_WRITEFILTER_H

#include "lldb-plugin/values/Comparisons.h"
#include "llvm/Support/Error.h"

namespace chronicle::values {

/// Comparisons of `old` and `new` with whole numbers and with each other.
class WriteFilter {
public:
  /// An empty text wants all writes.
  static llvm::Expected<WriteFilter> parse(llvm::StringRef Text);
  bool empty() const { return !Where; }

  /// Reads the value before or after a write; nothing: it was not mapped.
  using Value =
      llvm::function_ref<llvm::Expected<std::optional<llvm::APSInt>>()>;
  /// Whether a write is wanted. Without a value no comparison holds.
  llvm::Expected<bool> wants(Value Old, Value New) const;

private:
  std::optional<Comparisons> Where;
};

} // namespace chronicle::values

#endif
