// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The writes and states of a run, from stepping through it.

#ifndef CHRONICLE_TEST_CHECK_STEPPEDRUN_H
#define CHRONICLE_TEST_CHECK_STEPPEDRUN_H

#include "query/answers/Write.h"
#include "test/support/SteppedReplay.h"
#include <map>
#include <random>

namespace chronicle {

/// A write, as the stepped replay saw it. What a mapping changed is kept page
/// by page.
struct SteppedWrite {
  answers::Write W;
  uint32_t Mapped = 0;  ///< the number of the mapping; counts if bytes change
  bool Cleared = false; ///< zeros; whole pages count if bytes change
  uint32_t Translation; ///< the one of SteppedRun::Translations at that time
};

/// The state of the program at a moment.
struct Sample {
  Timestamp Time;
  uint32_t Running;
  std::map<uint32_t, replay::GuestState> States;
  uint64_t Address;
  std::vector<uint8_t> Bytes;
  std::vector<bool> Mapped;
};

/// Steps through the run with one memory. Notes every write, and the registers
/// and memory at random moments.
class SteppedRun : SteppedReplay, machine::StoreObserver {
public:
  SteppedRun(const file::TraceReader &Trace, std::mt19937_64 &Random);
  void run(size_t SampleCount);

  std::vector<SteppedWrite> Writes;
  std::vector<Sample> Samples;
  std::vector<std::vector<machine::ReplayMemory::SharedRange>> Translations;

private:
  void store(uint32_t, uint64_t Address, uint32_t Size, const uint8_t *Old,
             const uint8_t *New) override;
  void startBlock(const Block &B) override;
  void beforeStep(Timestamp T, const Block &B) override;
  bool afterStep(Timestamp T, const Block &B) override;
  void endBlock(const Block &B) override;
  void event(const Event &E, Timestamp T) override;
  void failed(const llvm::Twine &What) override;
  void mapping(const Event &E, SteppedWrite N);
  void add(SteppedWrite N, uint64_t Address, uint64_t Length);
  void noteStates();
  void finishEvent();
  void sample(Timestamp T);
  void map(uint64_t Address, uint64_t Length, bool Add);
  std::vector<uint8_t> bytes(uint64_t Address, uint64_t Size) {
    std::vector<uint8_t> Result(Size);
    Memory.read(Address, Result.data(), Size);
    return Result;
  }

  std::mt19937_64 &Random;
  uint64_t Chance = 1; ///< a sample is taken in one of so many moments
  Timestamp Now = 0;
  uint64_t Pc = 0;
  uint32_t MapEvents = 0;
  size_t Unfinished = 0; ///< New of the writes from here on is not known yet
  std::map<uint64_t, uint64_t> MappedRanges;
  std::map<uint32_t, replay::GuestState> States;
  std::map<uint32_t, uint32_t> SystemCalls;
};

} // namespace chronicle

#endif
