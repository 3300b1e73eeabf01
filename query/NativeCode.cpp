// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/NativeCode.h"
#include "query/ProgramCompiler.h"
#include "llvm/Support/Alignment.h"

using namespace llvm;

namespace chronicle {

NativeCode::NativeCode(uint32_t Superblocks) : Programs(Superblocks) {
  std::error_code Failed;
  sys::MemoryBlock Block = sys::Memory::allocateMappedMemory(
      Room, nullptr, sys::Memory::MF_RWE_MASK, Failed);
  if (Failed)
    return;
  Memory = sys::OwningMemoryBlock(Block);
  Next = static_cast<uint8_t *>(Memory.base());
  End = Next + Memory.allocatedSize();
}

NativeProgram NativeCode::make(uint32_t Superblock, ArrayRef<ReplayOp> Ops) {
  std::lock_guard<std::mutex> Guard(Lock);
  if (NativeProgram P = find(Superblock))
    return P;
  if (static_cast<size_t>(End - Next) <
      (Ops.size() + 1) * ProgramCompiler::MostBytes)
    return nullptr;
  auto P = reinterpret_cast<NativeProgram>(Next);
  Next = reinterpret_cast<uint8_t *>(
      alignAddr(ProgramCompiler(Ops, Next).compile(), Align(16)));
  Programs[Superblock].store(P, std::memory_order_release);
  return P;
}

} // namespace chronicle
