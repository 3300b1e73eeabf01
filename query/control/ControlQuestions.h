// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Why an instruction ran: the branches and calls that led to it.

#ifndef CHRONICLE_QUERY_CONTROL_CONTROLQUESTIONS_H
#define CHRONICLE_QUERY_CONTROL_CONTROLQUESTIONS_H

#include "query/control/FunctionGraphs.h"
#include "query/origins/ValueEngine.h"
#include "query/questions/Place.h"

namespace chronicle::control {

/// One thing that had to happen for the instruction of the step before, or of
/// the question, to run.
struct ControlStep {
  enum class Kind {
    Branch,       ///< a conditional branch went this way
    IndirectJump, ///< a switch, mostly
    Call,         ///< the function was called
    TailCall,     ///< another function jumped to it
    Start,        ///< main, or the first function of a thread: nothing before
    Signal,       ///< a signal was delivered
    Unknown,      ///< Note says what is not known
  };
  Kind What = Kind::Unknown;
  Timestamp Time = 0; ///< when the branch or the call ran
  uint32_t Thread = 0;
  uint64_t Pc = 0;
  questions::Place Where;
  bool Jumped = false; ///< of a branch: it did not go on behind itself
  uint64_t To = 0;     ///< where it went
  answers::Condition Condition;
  /// Where the values were compared, if not by the branch itself.
  std::optional<questions::Place> Compared;
  /// The same branch decided before in this call, as in a loop: that often, if
  /// it can be counted.
  bool Repeated = false;
  std::optional<uint64_t> Repeats;
  /// False: the graph has jumps with unknown targets, so that the instruction
  /// may not depend on this one.
  bool Certain = true;
  std::string Note;
};

struct ControlAnswer {
  std::vector<ControlStep> Steps; ///< newest first
  bool Complete = true;
};

/// A call under way and an instruction of it, which ran or is about to run at
/// Time.
struct ControlPoint {
  uint32_t Thread = 0;
  Timestamp At = 0; ///< at which the stack is looked at
  size_t Frame = 0; ///< in the call stack then; 0 is the innermost
  /// Also the branches of the system's code, and what called the first function
  /// of a thread.
  bool All = false;
};

/// Goes from an instruction to the branch that it depends on in its call, from
/// there to the branch that this one depends on, to the call, and so on, up to
/// main or the start of the thread. What depends on what is known from the
/// graph of each function. Each step costs a search for executions and a call
/// stack, per branch that may have decided.
llvm::Expected<ControlAnswer> whyHere(const query::Trace &T,
                                      origins::ValueEngine &Engine,
                                      ControlPoint Where, uint64_t Limit,
                                      const answers::Cancellation &Cancel);

/// "branch", "indirect-jump", "call", "tail-call", "start", "signal",
/// "unknown".
llvm::StringRef nameOf(ControlStep::Kind What);

} // namespace chronicle::control

#endif
