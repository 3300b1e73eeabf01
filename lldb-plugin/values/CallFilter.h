// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A condition on the parameters of calls.

#ifndef CHRONICLE_LLDB_PLUGIN_VALUES_CALLFILTER_H
#define CHRONICLE_LLDB_PLUGIN_VALUES_CALLFILTER_H

#include "lldb-plugin/values/CallReader.h"
#include "lldb-plugin/values/Comparisons.h"
#include "llvm/ADT/StringMap.h"

namespace chronicle::values {

/// Comparisons of parameters with whole numbers and with each other, joined by
/// &&, are evaluated here, in microseconds per call. LLDB compiles and
/// interprets anything else at each call, which takes milliseconds.
class CallFilter {
public:
  /// An empty expression wants all calls. Functions is how many the search is
  /// about: if the expression makes no sense in any of them, that is an error.
  CallFilter(llvm::StringRef Expression, size_t Functions);

  bool empty() const { return Expression.empty(); }
  /// Whether a call of the function is wanted, whose parameters are nothing if
  /// it has no debug info.
  llvm::Expected<bool>
  wants(CallReader &Reader, const CallMoment &Call, llvm::StringRef Function,
        const std::optional<std::vector<Parameter>> &Parameters);
  /// Leaves a call out at which it cannot be evaluated, and returns false.
  bool leaveOutCall(Timestamp Entry, llvm::StringRef Why);
  /// Leaves all calls of a function out; an error if it is the only one.
  llvm::Expected<bool> refuse(llvm::StringRef Function,
                              const std::string &Why) {
    return leaveOut(Function, Why);
  }
  /// Sentences about calls for which it could not be evaluated. It does not
  /// want these.
  std::string notes() const;

private:
  /// Lets LLDB evaluate the expression in a frame of the call.
  llvm::Expected<bool> evaluate(lldb::SBFrame Frame, const CallMoment &Call,
                                llvm::StringRef Function);
  llvm::Expected<bool> leaveOut(llvm::StringRef Function,
                                const std::string &Why);

  std::string Expression;
  size_t Functions;
  std::optional<Comparisons> Simple;    ///< all that it is made of, or nothing
  std::optional<Comparisons> Paths;     ///< the same with members
  llvm::StringMap<std::string> LeftOut; ///< functions, and why
  size_t Early = 0; ///< calls that did not get past their prologue
  /// Calls at which LLDB could not evaluate it, for example a null pointer.
  size_t Unevaluated = 0;
  std::string FirstUnevaluated; ///< when, and why
};

} // namespace chronicle::values

#endif
