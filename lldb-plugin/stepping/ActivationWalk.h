// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The instructions of one activation, backward.

#ifndef CHRONICLE_LLDB_PLUGIN_STEPPING_ACTIVATIONWALK_H
#define CHRONICLE_LLDB_PLUGIN_STEPPING_ACTIVATIONWALK_H

#include "query/Trace.h"
#include <optional>

namespace chronicle::stepping {

/// What a step returns after Ctrl-C.
llvm::Error interruptedStep();

/// Goes backward through the instructions of one activation. An instruction
/// costs no search as long as it follows another one of the activation, or only
/// calls of no interest lie between them. A loop on one line therefore costs no
/// more than walking its blocks.
class ActivationWalk {
public:
  /// Into: what the activation called is of interest.
  ActivationWalk(const query::Trace &T, uint32_t Thread, bool Into,
                 const answers::Cancellation &Cancel)
      : T(T), Cancel(Cancel), Thread(Thread), Into(Into) {}

  enum class Kind {
    Own,    ///< the activation ran the instruction
    Callee, ///< something that the activation called ran it
    Caller, ///< it led to the activation, which begins after it
    None,   ///< the thread ran nothing before
  };
  struct Found {
    Kind What = Kind::None;
    answers::Execution Last; ///< the thread's instruction
    /// The activations at that instruction, innermost first. Empty if the
    /// instruction is the activation's own.
    std::vector<answers::Activation> Stack;
    size_t Index = 0; ///< of the activation in Stack
  };

  /// From now on, looks for instructions of A before Time.
  void enter(const answers::Activation &A, Timestamp Time);
  /// Enters an activation of F's stack. The last instruction of its own before
  /// F is the call of the next inner activation.
  void enter(const Found &F, size_t Index) {
    enter(F.Stack[Index], Index ? F.Stack[Index - 1].Entry : F.Last.Time + 1);
  }
  /// Continues before the callee that F is in: with the call.
  void skip(const Found &F) { Before = F.Stack[F.Index - 1].Entry; }

  /// Whether the activation had begun when F ran, on another stack: it is a
  /// coroutine.
  bool isSuspended(const Found &F) const { return F.Last.Time >= Inside.Entry; }
  /// Continues from the call that switched stacks and came back to Return.
  /// \return false if there is no such call.
  llvm::Expected<bool> enterCallBefore(const Found &F, uint64_t Return);

  llvm::Expected<Found> previous();
  /// The thread's last instruction before Time.
  llvm::Expected<std::optional<answers::Execution>>
  instructionBefore(Timestamp Time);

private:
  /// Makes Known the thread's instructions up to Last.
  llvm::Error fill(Timestamp Last);
  /// The last of Known before Time; null: none.
  const answers::Execution *findKnown(Timestamp Time) const;

  const query::Trace &T;
  const answers::Cancellation &Cancel;
  const uint32_t Thread;
  const bool Into;
  answers::Activation Inside;
  Timestamp Before = 0;
  /// The activation ran everything that the thread ran in this range.
  answers::TimeRange Own{1, 0};
  /// All of the thread's instructions from KnownFrom to KnownUntil, newest
  /// first.
  std::vector<answers::Execution> Known;
  Timestamp KnownFrom = 1, KnownUntil = 0;
  /// How much fill() reads: enough for a line, then more each time that was
  /// too little.
  Timestamp Window = FirstWindow;
  static constexpr Timestamp FirstWindow = 256, LastWindow = 1 << 16;
};

} // namespace chronicle::stepping

#endif
