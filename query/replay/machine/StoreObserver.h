// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Hears of the stores of a replay.

#ifndef CHRONICLE_QUERY_REPLAY_MACHINE_STOREOBSERVER_H
#define CHRONICLE_QUERY_REPLAY_MACHINE_STOREOBSERVER_H

#include <cstdint>

namespace chronicle::machine {

/// Is called for every store that a program makes, before it happens.
class StoreObserver {
public:
  virtual ~StoreObserver();
  /// Instruction is the index in the superblock if the program is exact, and 0
  /// if it is fast.
  virtual void store(uint32_t Instruction, uint64_t Address, uint32_t Size,
                     const uint8_t *Old, const uint8_t *New) = 0;
};

} // namespace chronicle::machine

#endif
