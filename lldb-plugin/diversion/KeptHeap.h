// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Blocks of memory that called code allocates.

#ifndef CHRONICLE_LLDB_PLUGIN_DIVERSION_KEPTHEAP_H
#define CHRONICLE_LLDB_PLUGIN_DIVERSION_KEPTHEAP_H

#include "lldb-plugin/diversion/MomentMemory.h"
#include "query/heap/Allocators.h"
#include <set>

namespace chronicle::diversion {

/// Stands in for malloc, free and their relatives, whose entries the called
/// code reaches. Blocks come from scratch memory, so a result that holds some,
/// such as a string, can be read after the call, and no block lies where the
/// trace has memory. The heap of the recorded program is not touched: a call
/// works also where it is damaged, or locked by a thread. Nothing is freed
/// before clear().
class KeptHeap {
public:
  /// Neither is owned.
  KeptHeap(const query::Trace &T, Scratch &Own) : T(T), Own(Own) {}

  /// Where the functions are at that moment. The first call looks them up.
  const std::set<uint64_t> &entries(Timestamp Time);
  /// Does what the function whose entry the registers are at would do, and
  /// returns to its caller.
  llvm::Error answer(user_regs_struct &R, MomentMemory &Memory);
  /// Frees all blocks.
  void clear();

private:
  llvm::Expected<uint64_t> allocate(uint64_t Size, uint64_t Alignment,
                                    MomentMemory &Memory);
  llvm::Expected<uint64_t> resize(uint64_t Block, uint64_t Size,
                                  MomentMemory &Memory);

  const query::Trace &T;
  Scratch &Own;
  std::vector<heap::AllocatorFunction> Functions;
  llvm::DenseMap<uint64_t, uint16_t> Known; ///< in all modules of the run
  std::set<uint64_t> Now;                   ///< those of modules of NowAt
  std::optional<Timestamp> NowAt;
  std::vector<uint64_t> Areas;
  uint64_t Next = 0, End = 0; ///< what is left of the last area
};

} // namespace chronicle::diversion

#endif
