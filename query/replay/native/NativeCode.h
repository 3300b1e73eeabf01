// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Native code of the replay programs that run often.

#ifndef CHRONICLE_QUERY_REPLAY_NATIVE_NATIVECODE_H
#define CHRONICLE_QUERY_REPLAY_NATIVE_NATIVECODE_H

#include "query/replay/machine/Interpreter.h"
#include "trace-format/ZeroedTable.h"
#include "llvm/Support/Memory.h"
#include <atomic>

namespace chronicle::native {

class ProgramCompiler;

/// A replay program as native code: it does what Interpreter::run does with the
/// program, to the same frame and memory, and returns the same ordinal.
using NativeProgram = uint32_t (*)(machine::Interpreter *Machine,
                                   const void *ReadTable,
                                   const void *WriteTable);

/// Native code of superblocks' programs, other than exact ones. The interpreter
/// spends its time on indirect jumps that the processor mispredicts, one per
/// operation; native code has none of them and takes about a third of the time.
/// Operations are compiled one by one: operands come from the frame, the result
/// goes there, and only the last result also stays in a register. What is rare
/// (most vector and floating-point operations, pages that are not in the
/// memory's tables) is left to the interpreter.
///
/// Compiling a program costs as much as interpreting it some hundred times, so
/// only programs that run often are worth it. If the system allows no memory
/// that is both writable and executable, or Room is used up, there is no native
/// code, and callers interpret instead. Several threads may use it at once.
class NativeCode {
public:
  /// MarksReads: for memories that mark reads. All programs given to make()
  /// must have the same form.
  explicit NativeCode(uint32_t Superblocks, bool MarksReads = false);
  ~NativeCode();

  /// The native code of a superblock, or null if it was not compiled.
  NativeProgram find(uint32_t Superblock) {
    const uint64_t Bits =
        Compiled[Superblock / 64].load(std::memory_order_acquire);
    if (!(Bits >> Superblock % 64 & 1))
      return nullptr;
    return Programs[Superblock].load(std::memory_order_relaxed);
  }
  /// Compiles a superblock. Ops are its program, which must outlive this.
  /// Returns null if there is no room.
  NativeProgram make(uint32_t Superblock,
                     llvm::ArrayRef<program::ReplayOp> Ops);

  static uint32_t run(NativeProgram P, machine::Interpreter &Machine,
                      machine::ReplayMemory &Memory) {
    assert(Machine.state() == reinterpret_cast<uint8_t *>(&Machine) &&
           "native code expects the frame at the start of the interpreter");
    return P(&Machine, Memory.readTable(), Memory.writeTable());
  }

private:
  /// Address space; only the pages that are used cost memory.
  static constexpr size_t Room = size_t(128) << 20;

  /// One bit per superblock. Apart from Programs, so that looking for the many
  /// superblocks that were not compiled touches few pages.
  ZeroedTable<std::atomic<uint64_t>> Compiled;
  ZeroedTable<std::atomic<NativeProgram>> Programs;
  std::mutex Lock; ///< for the members below
  llvm::sys::OwningMemoryBlock Memory;
  std::unique_ptr<ProgramCompiler> Compiler; ///< null until it is needed
  const bool MarksReads;
  bool Unavailable = false; ///< the system gives no executable memory
};

} // namespace chronicle::native

#endif
