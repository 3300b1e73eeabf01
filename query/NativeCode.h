// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Replay programs that run often, as instructions of the processor.

#ifndef CHRONICLE_QUERY_NATIVECODE_H
#define CHRONICLE_QUERY_NATIVECODE_H

#include "query/Interpreter.h"
#include "llvm/Support/Memory.h"

namespace chronicle {

/// What a replay program became: does what Interpreter::run does with it, to
/// the same frame and memory, and returns the same ordinal.
using NativeProgram = uint32_t (*)(Interpreter *Machine, const void *ReadTable,
                                   const void *WriteTable);

/// Native code of superblocks' fast programs. An interpreter's time goes to
/// jumps that the processor does not foresee, one an operation; native code has
/// none, and takes about a third of the time. Every operation stands for
/// itself: its operands come from the frame, its result goes there, and only
/// the last result is also still in a register. What is rare (most of vectors,
/// floating point, pages that are not in the memory's tables) is left to the
/// interpreter, one stretch of operations after the other.
///
/// Only what runs often pays: of verifying 630 M instructions of sqlite3, 0.05
/// % went to making it. Where no memory may be both written and executed, or
/// none is left, there is no native code, and whoever asks interprets instead.
/// Several threads may ask at once.
class NativeCode {
public:
  explicit NativeCode(uint32_t Superblocks);

  /// The superblock's, if it was made.
  NativeProgram find(uint32_t Superblock) {
    return Programs[Superblock].load(std::memory_order_acquire);
  }
  /// Makes it. Ops are the superblock's fast program and outlive this. Null:
  /// there is no room.
  NativeProgram make(uint32_t Superblock, llvm::ArrayRef<ReplayOp> Ops);

  static uint32_t run(NativeProgram P, Interpreter &Machine,
                      ReplayMemory &Memory) {
    assert(Machine.state() == reinterpret_cast<uint8_t *>(&Machine) &&
           "the code finds the frame where the machine begins");
    return P(&Machine, Memory.ReadTable, Memory.WriteTable);
  }

private:
  static constexpr size_t Room = size_t(128) << 20; ///< only what is used costs

  ZeroedTable<std::atomic<NativeProgram>> Programs;
  std::mutex Lock; ///< of what follows
  llvm::sys::OwningMemoryBlock Memory;
  uint8_t *Next = nullptr, *End = nullptr;
};

} // namespace chronicle

#endif
