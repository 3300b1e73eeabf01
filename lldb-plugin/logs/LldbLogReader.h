// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Values of a log as LLDB shows them.

#ifndef CHRONICLE_LLDB_PLUGIN_LOGS_LLDBLOGREADER_H
#define CHRONICLE_LLDB_PLUGIN_LOGS_LLDBLOGREADER_H

#include "lldb-plugin/target/Scout.h"
#include "query/expressions/LogQuestions.h"
#include "llvm/ADT/StringMap.h"
#include <set>

namespace chronicle::logs {

/// Lets LLDB read and format what is not simple, which takes milliseconds per
/// value. Simple values cost microseconds, unless the user has told LLDB how to
/// show values of their type.
class LldbLogReader : public expressions::LogReader {
public:
  explicit LldbLogReader(target::Scout &There) : There(There) {}

  llvm::Expected<expressions::LoggedValue>
  show(const expressions::Question &Q, const expressions::Outcome &O,
       const expressions::CodeMoment &At,
       expressions::StateReader &State) override;
  llvm::Expected<bool> holds(const expressions::Question &Q,
                             const expressions::Outcome &O,
                             const expressions::CodeMoment &At) override;

  /// Why LLDB does not understand the expression, if it has not understood it
  /// anywhere. Nothing: it has, or it was not asked.
  std::optional<std::string> misunderstood(llvm::StringRef Expression) const;

private:
  /// LLDB's value of the expression at the moment.
  llvm::Expected<lldb::SBValue> ask(const expressions::Question &Q,
                                    const expressions::CodeMoment &At);
  /// Nothing: LLDB must read the value itself.
  std::optional<std::string> textOf(const expressions::Value &V,
                                    expressions::StateReader &State);
  bool hasOwnFormat(const std::string &Type);

  target::Scout &There;
  llvm::StringMap<bool> OwnFormats; ///< by type
  /// Expressions that cannot be compiled for the code at an address, and why.
  std::map<std::pair<std::string, uint64_t>, std::string> Refused;
  std::set<std::string, std::less<>> Understood;
};

} // namespace chronicle::logs

#endif
