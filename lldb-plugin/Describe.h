// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What the commands print, in words for people.

#ifndef CHRONICLE_LLDB_PLUGIN_DESCRIBE_H
#define CHRONICLE_LLDB_PLUGIN_DESCRIBE_H

#include "query/Trace.h"
#include "llvm/Support/JSON.h"

namespace chronicle {

/// "function at file:line" of a symbol as JSON has it, as far as known; empty:
/// nothing is.
std::string placeOf(const llvm::json::Value *Symbol);
/// "at file:line", or "in module".
std::string sourceOf(const llvm::json::Value *Symbol);
/// As placeOf, for a pc.
std::string placeOf(const Trace &T, uint64_t Pc, Timestamp Time);

/// "read(0x3, 0x1000, 0x40) = 12" of a system call as JSON has it.
std::string systemCallText(const llvm::json::Object &Call);

/// How the run ended: "exited with status 3".
std::string endText(const TraceReader &Reader);

/// Whether it ended by a signal.
bool diedOfSignal(const TraceReader &Reader);

/// Bytes of no known type.
std::string valueText(llvm::ArrayRef<uint8_t> Bytes);

/// Text in columns as wide as they need to be.
class Table {
public:
  explicit Table(std::vector<std::string> Head) : Rows{std::move(Head)} {}
  void add(std::vector<std::string> Row) { Rows.push_back(std::move(Row)); }
  bool empty() const { return Rows.size() == 1; }
  /// Columns whose cells are all empty are left out; those with numbers only
  /// are aligned to the right.
  std::string text() const;

private:
  std::vector<std::vector<std::string>> Rows;
};

} // namespace chronicle

#endif
