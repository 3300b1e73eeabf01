// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A thread's stack frames, from its history of calls instead of from its
/// stack. Whatever became of the stack, and whether or not there is unwind
/// information, they are right.

#ifndef CHRONICLE_LLDB_PLUGIN_HISTORYFRAMES_H
#define CHRONICLE_LLDB_PLUGIN_HISTORYFRAMES_H

#include "query/Trace.h"

namespace chronicle {

struct HistoryFrame {
  enum Kind {
    Called,      ///< Pc is a return address, as it was pushed
    Interrupted, ///< Pc is of its next instruction: the innermost frame, and
                 ///< what a signal came into
    Trampoline,  ///< what the kernel has a signal handler return to
  };
  Kind What = Called;
  uint64_t Pc = 0;
  /// The canonical frame address: the stack pointer before the call that
  /// entered it. The same as long as it lives.
  uint64_t Cfa = 0;
  size_t Activation = 0; ///< whose it is; of a trampoline, the handler
};

/// The frames of a thread at one moment. Making it costs what
/// Trace::callStack() costs, and one block more for each return address that is
/// no longer on the stack.
class HistoryFrames {
public:
  static llvm::Expected<HistoryFrames> create(const Trace &T, uint32_t Thread,
                                              Timestamp Time);

  /// Innermost first. None: the thread has not run yet.
  llvm::ArrayRef<HistoryFrame> frames() const { return Frames; }
  /// As they were when the frame's call was made, all of them: also those that
  /// a callee need not keep. In frame 0, as they are. One block.
  llvm::Expected<Registers> registers(size_t Frame) const;

private:
  HistoryFrames(const Trace &T, uint32_t Thread, Timestamp Time)
      : T(&T), Thread(Thread), Time(Time) {}
  llvm::Error build();
  llvm::Expected<uint64_t> returnAddress(const Activation &A) const;
  llvm::Expected<Registers> entryRegisters(size_t Index) const;
  llvm::Expected<Registers> interruptedRegisters(const Activation &A) const;

  const Trace *T;
  uint32_t Thread;
  Timestamp Time;
  std::vector<HistoryFrame> Frames;
  std::vector<Activation> Stack;
};

} // namespace chronicle

#endif
