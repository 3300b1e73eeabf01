// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Follows the calls of one thread by its stack pointer alone. Return addresses
/// in memory are never read, so a smashed stack changes nothing.
///
/// An activation begins with a call and lives until the stack pointer rises
/// above its value at entry. That is right for returns, tail calls, longjmp,
/// exceptions and everything else that leaves a procedure. A thread may have
/// several stacks (coroutines, signal stacks): when the stack pointer is set to
/// something outside the current stack, another one goes on or begins.
///
/// The indexer drives it from the stream, the query engine from replay; both
/// see the same stack pointers, so both find the same activations.

#ifndef CHRONICLE_INDEXER_MODEL_CALLTRACKER_H
#define CHRONICLE_INDEXER_MODEL_CALLTRACKER_H

#include "trace-format/pieces/CallFormat.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Compiler.h"
#include <algorithm>
#include <vector>

namespace chronicle::model {

/// One stack of a thread. Its first record is how the stack came into use, and
/// never ends by itself.
struct CallStackRecord {
  llvm::SmallVector<pieces::CallRecord, 0> Calls;
  uint64_t StackPointer = 0; ///< when it was left, if not the current one
  uint64_t Top = 0;          ///< highest stack pointer seen
  uint32_t Id = 0;           ///< from 1, unique in the thread
  uint32_t Interrupted = 0; ///< signal stack: the stack it interrupted; 0: none
};

/// Feed it each execution of the thread, in order: step(), then set() for each
/// stack pointer from elsewhere, then moved() to where it is at the exit, then
/// call() if the exit was a call. A step costs a handful of instructions.
class CallTracker {
public:
  /// A thread that begins with this stack pointer.
  CallTracker(uint64_t StackPointer, Timestamp T);
  /// A thread whose stacks are known; the first is the current one.
  explicit CallTracker(std::vector<CallStackRecord> Stacks);

  /// A superblock is entered.
  LLVM_ATTRIBUTE_ALWAYS_INLINE void step(uint32_t Superblock, Timestamp T) {
    if (LLVM_UNLIKELY(Limit == 0))
      entered(Superblock, T);
  }
  /// The stack pointer changed by constants, or was computed from itself: the
  /// stack is the same.
  LLVM_ATTRIBUTE_ALWAYS_INLINE void moved(uint64_t To) {
    StackPointer = To;
    if (LLVM_UNLIKELY(To > Limit))
      rise();
  }
  /// Ends what is over by the stack pointer. Only necessary after records were
  /// added at the outer end of the current stack.
  void settle() { rise(); }
  /// The stack pointer was set to something from elsewhere.
  void set(uint64_t To, Timestamp T);
  /// The exit was a call; the stack pointer is where the return address is. A
  /// caller that passes the next superblock as Callee need not call step() for
  /// it.
  LLVM_ATTRIBUTE_ALWAYS_INLINE void call(uint32_t CallSuperblock, Timestamp T,
                                         uint32_t Callee = 0) {
    push({T, StackPointer, CallSuperblock, Callee, 0, false});
  }
  /// The kernel enters a signal handler with this stack pointer.
  void signal(uint64_t To, bool AlternateStack, Timestamp T);

  uint64_t stackPointer() const { return StackPointer; }
  /// An execution that only moves the stack pointer, and not above this limit,
  /// changes nothing else. A hot loop may leave out such executions and call
  /// jumpTo() at the end.
  uint64_t limit() const { return Limit; }
  void jumpTo(uint64_t To) { StackPointer = To; }

  CallStackRecord &current() { return Stacks.front(); }
  /// The current one first; its StackPointer is not kept up to date.
  llvm::MutableArrayRef<CallStackRecord> stacks() { return Stacks; }

  /// Makes the activation known elsewhere, as one inside Parent (0: none), and
  /// returns the number it has there.
  using NumberActivation = llvm::function_ref<uint32_t(
      uint32_t Parent, const CallStackRecord &, const pieces::CallRecord &)>;
  /// Numbers the activations of a stack that have no number yet: those at its
  /// inner end, outer ones first. Returns the number of the innermost one.
  uint32_t number(CallStackRecord &Stack, NumberActivation Add);

  /// If set: activations that end are added, inner ones first. Those on stacks
  /// that are forgotten do not end.
  std::vector<pieces::CallRecord> *Ended = nullptr;

private:
  // Every call and return uses these, so they are inline for the indexer's hot
  // loop.
  void entered(uint32_t Superblock, Timestamp T) {
    pieces::CallRecord &Call = current().Calls.back();
    Call.Callee = Superblock;
    Call.Entry = T;
    top();
  }
  LLVM_ATTRIBUTE_ALWAYS_INLINE void rise() {
    CallStackRecord &S = current();
    S.Top = std::max(S.Top, StackPointer);
    while (S.Calls.back().Slot < StackPointer)
      pop(S);
    top();
  }
  LLVM_ATTRIBUTE_ALWAYS_INLINE void push(const pieces::CallRecord &Call) {
    CallStackRecord &S = current();
    // If the return address is overwritten, its activation is over.
    while (S.Calls.back().Slot <= StackPointer)
      pop(S);
    S.Calls.push_back(Call);
    S.Top = std::max(S.Top, StackPointer);
    Limit = Call.Callee ? StackPointer : 0;
  }
  LLVM_ATTRIBUTE_ALWAYS_INLINE void pop(CallStackRecord &S) {
    if (Ended)
      Ended->push_back(S.Calls.back());
    S.Calls.pop_back();
  }
  void top() {
    const CallStackRecord &S = current();
    Limit = S.Calls.back().Callee ? std::min(S.Calls.back().Slot, S.Top) : 0;
  }
  void leave();
  void begin(uint64_t To, Timestamp T, uint32_t Interrupted);

  std::vector<CallStackRecord> Stacks; ///< the current one first
  uint64_t StackPointer;
  /// Return address of the innermost activation, or the top of a stack that has
  /// none; 0: its first superblock did not run yet.
  uint64_t Limit;
  uint32_t LastId = 0;
};

} // namespace chronicle::model

#endif
