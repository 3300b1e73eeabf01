// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Registers and memory at many moments, one after the other.

#ifndef CHRONICLE_QUERY_EXPRESSIONS_STATEREADER_H
#define CHRONICLE_QUERY_EXPRESSIONS_STATEREADER_H

#include "query/Trace.h"
#include "query/state/StateCache.h"

namespace chronicle::expressions {

/// The state of a thread at a moment that moves. Moments in order of time are
/// cheap: the next one of a block goes on with the replay. Has a cache of its
/// own beside that of query::Trace. For one thread at a time.
class StateReader {
public:
  explicit StateReader(const query::Trace &T, uint64_t CacheBytes = 64ull << 20)
      : T(T), States(T.reader(), CacheBytes) {}

  llvm::Error go(Timestamp Time, uint32_t Thread);
  Timestamp time() const { return Time; }
  uint32_t thread() const { return Thread; }
  /// Whether the thread runs the next instruction.
  bool isRunning() const { return Cursor->replayer().thread() == Thread; }
  const query::Trace &trace() const { return T; }

  const answers::Registers &registers() const { return Now; }
  /// The address of the next instruction.
  uint64_t pc() const { return Now.rip(); }
  /// False: some of it is not mapped.
  llvm::Expected<bool> read(uint64_t Address,
                            llvm::MutableArrayRef<uint8_t> Into);
  /// The canonical frame address of the innermost call: above its return
  /// address. Costs a call stack.
  llvm::Expected<uint64_t> frameAddress();
  /// When the call returns that $result is about; nothing: it does not.
  void setReturn(std::optional<Timestamp> When) { Return = When; }
  std::optional<Timestamp> returned() const { return Return; }
  /// The registers when the innermost function was entered. Nothing: not known.
  llvm::Expected<std::optional<answers::Registers>> registersAtEntry();

private:
  /// Nothing: the thread is in no call.
  llvm::Expected<const answers::Activation *> call();

  const query::Trace &T;
  state::StateCache States;
  mutable std::optional<state::StateCursor> Cursor;
  Timestamp Time = 0;
  uint32_t Thread = 0;
  answers::Registers Now;
  std::optional<Timestamp> Return;
  std::shared_ptr<const state::MapHistory::Map> Map; ///< null: not yet needed
  std::optional<answers::Activation> Call;           ///< the same
};

} // namespace chronicle::expressions

#endif
