// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Calls of functions and the frames of a call stack, with names.

#ifndef CHRONICLE_QUERY_QUESTIONS_CALLQUESTIONS_H
#define CHRONICLE_QUERY_QUESTIONS_CALLQUESTIONS_H

#include "query/questions/CallEnd.h"
#include "query/questions/CodePlaces.h"
#include "query/questions/Place.h"
#include "query/questions/Search.h"
#include <array>

namespace chronicle::questions {

/// One call of a function. Of an inlined function that is the start of its
/// code: there are no registers for its arguments, and no moment at which it
/// returns, because compilers mix its instructions with those of its caller.
struct CallAnswer {
  /// The registers that the System V ABI passes integers and pointers in. The
  /// engine does not know how many the function takes.
  static constexpr const char *ArgumentNames[] = {"rdi", "rsi", "rdx",
                                                  "rcx", "r8",  "r9"};

  Timestamp Entry = 0;
  std::optional<CallEnd> End; ///< nothing: not known
  uint32_t Thread = 0;
  Place Function; ///< its first instruction
  std::array<uint64_t, 6> Arguments = {};
  size_t Depth = 0; ///< how many calls it is in
  bool TailCall = false;
  bool Inlined = false;
  /// If inlined: how many functions that were inlined into this one are at the
  /// same instruction.
  size_t InlinedInside = 0;
  /// The call, or the jump of a tail call. If inlined, the line of the call.
  std::optional<Place> Caller;
  /// If that is the system's code, who called it.
  std::optional<Place> Outside;
};

/// Calls of the functions of that name, also of inlined ones. Every result
/// costs the call stack and the registers at the entry, and endOf().
llvm::Expected<SearchEnd> searchCalls(const query::Trace &T,
                                      llvm::StringRef Function,
                                      const SearchOptions &Options,
                                      Visitor<CallAnswer> Visit,
                                      const answers::Cancellation &Cancel);

/// Whether the execution of one of a function's Places, as findCode() finds
/// them, is a call, and not a jump within the function. Costs a call stack; of
/// inlined code, a few searches.
llvm::Expected<bool> isCall(const query::Trace &T,
                            llvm::ArrayRef<CodePlace> Places,
                            const answers::Execution &X,
                            const answers::Cancellation &Cancel);

/// A frame of a call stack: a call under way.
struct FrameAnswer {
  answers::Activation Activation;
  Place
      Where; ///< where it is then; if that is not known, its first instruction
};

/// The innermost frames, no more than Most.
llvm::Expected<std::vector<FrameAnswer>> callStack(const query::Trace &T,
                                                   uint32_t Thread,
                                                   Timestamp At,
                                                   size_t Most = ~size_t(0));

/// The calls that an activation makes itself, in order.
llvm::Expected<SearchEnd> searchCallees(const query::Trace &T,
                                        const answers::Activation &Caller,
                                        uint64_t Limit,
                                        Visitor<FrameAnswer> Visit,
                                        const answers::Cancellation &Cancel);

struct ReturnAnswer {
  FrameAnswer Call;
  CallEnd End;
};
llvm::Expected<ReturnAnswer> returnOf(const query::Trace &T,
                                      const answers::Activation &A);

} // namespace chronicle::questions

#endif
