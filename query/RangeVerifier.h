// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The part of verifying a trace that one worker does at a time.

#ifndef CHRONICLE_QUERY_RANGEVERIFIER_H
#define CHRONICLE_QUERY_RANGEVERIFIER_H

#include "query/Verifier.h"
#include "query/replay/BlockReplayer.h"
#include "query/replay/DeltaCursor.h"
#include "query/replay/TracePages.h"
#include <atomic>
#include <optional>

namespace chronicle::query {

/// What all workers of a verification share.
struct SharedWork {
  const file::TraceReader &Trace;
  const VerifyOptions &Options;
  replay::ExitTable Exits;
  program::ProgramCache Programs;
  native::NativeCode Native;
  std::vector<std::pair<BlockNumber, BlockNumber>> Ranges;
  uint64_t BytesPerWorker = 0;
  std::atomic<size_t> NextRange = 0;
  std::atomic<uint64_t> BlocksDone = 0, InstructionsDone = 0;

  SharedWork(const file::TraceReader &Trace, const VerifyOptions &Options)
      : Trace(Trace), Options(Options), Exits(Trace), Programs(Trace),
        Native(Trace.superblockCount()) {}
};

/// The mismatches of one worker: kept up to the limit, counted beyond it.
struct MismatchList {
  uint64_t Limit;
  uint64_t Count = 0;
  std::vector<replay::Mismatch> Kept;
  void add(const replay::Mismatch &M) {
    if (Count++ < Limit)
      Kept.push_back(M);
  }
};

/// A thread at the end of the last block in which it ran.
struct ThreadEnd {
  replay::GuestState State;
  replay::Mismatch Where; ///< block, time and superblock it stopped in
};

/// Compares where a thread stopped with its snapshot in a later block.
std::optional<replay::Mismatch> compareSnapshot(const ThreadEnd &End,
                                                uint32_t Thread,
                                                const uint8_t *State,
                                                BlockNumber SnapshotBlock);

/// Verifies a range of blocks: replays them one after the other with one
/// memory.
class RangeVerifier {
public:
  RangeVerifier(SharedWork &S, BlockNumber First, BlockNumber End,
                MismatchList &Mismatches, std::vector<uint64_t> &ExitCounts)
      : S(S), First(First), End(End), Mismatches(Mismatches),
        ExitCounts(ExitCounts), Pages(S.Trace), Memory(Pages, First),
        Deltas(S.Trace), Replayer(Memory, S.Programs, S.Exits) {}

  void run();

  uint64_t Executions = 0, Opaque = 0, Snapshots = 0, Granules = 0;
  uint64_t Blocks = 0, Instructions = 0, InterpretedBlocks = 0, Resets = 0;
  bool SawEnd = false;
  /// The first snapshots of threads whose state before them this range does not
  /// know.
  std::map<uint32_t, std::pair<replay::GuestState, replay::Mismatch>>
      FirstSnapshots;
  std::map<uint32_t, ThreadEnd> Ends;
  bool LostTrack = false; ///< states from before this range are of no use
  uint64_t absentFrames() const { return Memory.absentFrames(); }

private:
  void verify(const Block &B);
  void compareFrames(const Block &B);
  void compareFrame(const Block &B, const machine::ReplayFrame &Frame);
  void findMissingWrites(const Block &B);
  void report(const Block &B, const llvm::Twine &What);
  void snapshot(uint32_t Thread, const uint8_t *State);
  void startAfresh(BlockNumber N);
  bool keepsTooMuch() const;

  SharedWork &S;
  BlockNumber First, End;
  MismatchList &Mismatches;
  std::vector<uint64_t> &ExitCounts;
  replay::TracePages Pages;
  machine::ReplayMemory Memory;
  replay::DeltaCursor Deltas;
  replay::BlockReplayer Replayer;
  uint64_t WrittenPages = 0, WrittenGranules = 0;
  const Block *Current = nullptr;
};

} // namespace chronicle::query

#endif
