// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Hears of the stores of a replay, and of its loads.

#ifndef CHRONICLE_QUERY_REPLAY_MACHINE_STOREOBSERVER_H
#define CHRONICLE_QUERY_REPLAY_MACHINE_STOREOBSERVER_H

#include <cstdint>

namespace chronicle::machine {

/// Is called for every store that a program makes, before it happens. If
/// SeesLoads, also for every load; the programs must then have all loads, which
/// fast ones do not (ProgramForm).
class StoreObserver {
public:
  explicit StoreObserver(bool SeesLoads = false) : SeesLoads(SeesLoads) {}
  virtual ~StoreObserver();
  /// Instruction is the index in the superblock if the program is exact, and 0
  /// if it is fast.
  virtual void store(uint32_t Instruction, uint64_t Address, uint32_t Size,
                     const uint8_t *Old, const uint8_t *New) = 0;
  /// A load of bytes that are in memory now. A compare-and-swap is a load, and
  /// a store if it succeeds.
  virtual void load(uint32_t Instruction, uint64_t Address, uint32_t Size,
                    const uint8_t *Bytes);

  const bool SeesLoads;
};

} // namespace chronicle::machine

#endif
