// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A thread's stack frames, from its history of calls instead of from its
/// stack. They are right even if the stack is overwritten or there is no unwind
/// information.

#ifndef CHRONICLE_LLDB_PLUGIN_HISTORY_HISTORYFRAMES_H
#define CHRONICLE_LLDB_PLUGIN_HISTORY_HISTORYFRAMES_H

#include "query/Trace.h"

namespace chronicle::history {

struct HistoryFrame {
  enum Kind {
    Called,      ///< Pc is the return address that the call pushed
    Interrupted, ///< Pc is the next instruction: the innermost frame, or one
                 ///< that a signal interrupted, or that jumped to where nothing
                 ///< can be executed
    Trampoline,  ///< the code that a signal handler returns to
  };
  Kind What = Called;
  uint64_t Pc = 0;
  /// The canonical frame address: the stack pointer before the call that
  /// entered the frame. It does not change while the frame exists.
  uint64_t Cfa = 0;
  size_t Activation =
      0; ///< index in the call stack; of a trampoline, the handler's
};

/// The frames of a thread at one moment. They are found when they are asked
/// for: a frame costs a few lookups, and creating this costs one block, however
/// deep the stack is.
class HistoryFrames {
public:
  static llvm::Expected<HistoryFrames> create(const query::Trace &T,
                                              uint32_t Thread, Timestamp Time);

  /// Innermost first, from 0; null: there are no more. Frame 0 is missing if
  /// the thread has not run yet. Valid until the next call.
  llvm::Expected<const HistoryFrame *> frame(size_t Index);
  /// How many there are. Goes through all calls under way.
  llvm::Expected<size_t> count();
  /// The registers when the frame, which was found before, made its call,
  /// including those that a callee need not preserve. For frame 0, the present
  /// registers. Costs one block.
  llvm::Expected<answers::Registers> registers(size_t Frame) const;
  /// The registers when the frame's function was entered. Nothing: it is not
  /// known. Costs as much as questions::functionEntry(), and one block.
  llvm::Expected<std::optional<answers::Registers>>
  registersAtEntry(size_t Frame) const;

private:
  HistoryFrames(const query::Trace &T, uint32_t Thread, Timestamp Time)
      : T(&T), Thread(Thread), Time(Time) {}
  /// Makes at least Most activations known, or all.
  llvm::Error know(size_t Most);
  llvm::Error addFrames();
  llvm::Expected<uint64_t> returnAddress(const answers::Activation &A) const;
  llvm::Expected<answers::Registers> entryRegisters(size_t Index) const;
  llvm::Expected<HistoryFrames> parentFrames() const;
  llvm::Expected<answers::Registers> inheritedRegisters(uint64_t Cfa) const;
  llvm::Expected<answers::Registers>
  interruptedInParent(const answers::Activation &Handler) const;
  llvm::Expected<answers::Registers>
  interruptedRegisters(const answers::Activation &A) const;

  const query::Trace *T;
  /// Opened when it is first needed.
  mutable std::shared_ptr<const query::Trace> Parent;
  uint32_t Thread;
  Timestamp Time;
  std::vector<HistoryFrame> Frames;
  std::vector<answers::Activation> Stack;
  bool Complete = false; ///< Stack has all activations
  size_t Shown = 0;      ///< how many of them have their frames
};

} // namespace chronicle::history

#endif
