// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/replay/native/NativeCode.h"
#include "query/replay/native/ProgramCompiler.h"

using namespace llvm;

namespace chronicle::native {

NativeCode::NativeCode(uint32_t Superblocks, bool MarksReads)
    : Compiled(divideCeil(Superblocks, 64)), Programs(Superblocks),
      MarksReads(MarksReads) {}
NativeCode::~NativeCode() = default;

NativeProgram NativeCode::make(uint32_t Superblock,
                               ArrayRef<program::ReplayOp> Ops) {
  std::lock_guard<std::mutex> Guard(Lock);
  if (NativeProgram P = find(Superblock))
    return P;
  if (!Compiler) {
    if (Unavailable)
      return nullptr;
    std::error_code Failed;
    sys::MemoryBlock Block = sys::Memory::allocateMappedMemory(
        Room, nullptr, sys::Memory::MF_RWE_MASK, Failed);
    if (Failed) {
      Unavailable = true;
      return nullptr;
    }
    Memory = sys::OwningMemoryBlock(Block);
    Compiler = std::make_unique<ProgramCompiler>(
        MutableArrayRef(static_cast<uint8_t *>(Memory.base()),
                        Memory.allocatedSize()),
        MarksReads);
  }
  auto P = reinterpret_cast<NativeProgram>(
      const_cast<uint8_t *>(Compiler->compile(Ops)));
  if (P) {
    Programs[Superblock].store(P, std::memory_order_relaxed);
    Compiled[Superblock / 64].fetch_or(uint64_t(1) << Superblock % 64,
                                       std::memory_order_release);
  }
  return P;
}

} // namespace chronicle::native
