// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Call stacks as bytes: the activations that outlived a block, once each, and
/// for each block which of them were alive at its end.
///
///   activations := activation*           the first has the piece's key as
///   number activation  := flags:v parent:v entry:z slot:z
///                  call-superblock:v callee:v
///   stacks      := (thread:v signals:v signal* stacks:v stack*)*
///   signal      := stack-pointer:v alternate-stack:u8
///   stack       := activation:v stack-pointer:v top:z id:v interrupted:v
///
/// flags: 1 a signal handler, 2 the first of a stack, which has no slot. parent
/// is how many numbers back, 0 for none; entry and slot are deltas to the
/// activation before in the piece, top is a delta to the stack pointer.

#ifndef CHRONICLE_TRACE_FORMAT_PIECES_CALLFORMAT_H
#define CHRONICLE_TRACE_FORMAT_PIECES_CALLFORMAT_H

#include "trace-format/Bytes.h"
#include "trace-format/TraceData.h"
#include "llvm/Support/Error.h"

namespace chronicle::pieces {

/// One activation as the indexer and the query engine follow it.
struct CallRecord {
  Timestamp Entry = 0; ///< of the first instruction; not entered: of the call
  uint64_t Slot = 0;   ///< stack pointer at entry: the return address
  uint32_t CallSuperblock = 0; ///< whose last instruction is the call; 0: none
  uint32_t Callee = 0;         ///< superblock at Entry; 0: not entered yet
  uint32_t Node = 0;           ///< number in the file; 0: not written
  bool Signal = false;         ///< a handler, entered by the kernel
};

/// Slot of the first record of a stack.
constexpr uint64_t NeverEnds = ~uint64_t(0);

/// A signal handler that is about to be entered: its frame is made, but the
/// registers have not changed yet.
struct PendingSignal {
  uint64_t StackPointer = 0; ///< 0: not known
  bool AlternateStack = false;
};

/// An activation of the file. Numbers are from 1.
struct ActivationRecord {
  uint32_t Parent = 0; ///< number; 0: none
  CallRecord Call;     ///< Node is its number
  bool isFirstOfStack() const { return Call.Slot == NeverEnds; }
};

/// Encodes activations, numbered one after the other.
class ActivationsWriter {
public:
  /// Gives the activation the next number.
  uint32_t add(uint32_t Parent, const CallRecord &Call);
  /// The number of the first since the last take().
  uint32_t first() const { return First; }
  size_t size() const { return Bytes.size(); }
  bool empty() const { return Bytes.empty(); }
  ByteWriter take();

private:
  ByteWriter Bytes;
  uint32_t First = 1, Next = 1;
  Timestamp Entry = 0;
  uint64_t Slot = 0;
};

llvm::Expected<std::vector<ActivationRecord>>
decodeActivations(llvm::ArrayRef<uint8_t> Bytes, uint32_t First);

/// A thread's stacks at the end of a block; the current one is the first.
struct ThreadStacks {
  struct Stack {
    uint32_t Activation = 0; ///< the innermost
    uint64_t StackPointer = 0, Top = 0;
    uint32_t Id = 0, Interrupted = 0;
  };
  uint32_t Thread = 0;
  std::vector<PendingSignal> Signals; ///< about to be entered
  std::vector<Stack> Stacks;
};

void encodeStacks(ByteWriter &Out, const ThreadStacks &T);
llvm::Expected<std::vector<ThreadStacks>>
decodeStacks(llvm::ArrayRef<uint8_t> Bytes);

} // namespace chronicle::pieces

#endif
