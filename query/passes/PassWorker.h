// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The part of a pass that one thread does at a time.

#ifndef CHRONICLE_QUERY_PASSES_PASSWORKER_H
#define CHRONICLE_QUERY_PASSES_PASSWORKER_H

#include "query/passes/Pass.h"
#include "query/replay/BlockReplayer.h"
#include "query/replay/TracePages.h"

namespace chronicle::passes {

/// What all threads of a pass share.
struct SharedReplay {
  const file::TraceReader &Trace;
  const PassNeeds Needs;
  replay::ExitTable Exits;
  program::ProgramCache Programs;
  native::NativeCode Native;
  /// By superblock: whether it begins at one of Needs.Entries.
  std::vector<bool> Enters;

  SharedReplay(const file::TraceReader &Trace, PassNeeds Needs);
};

/// Replays consecutive blocks with one memory, which keeps the pages that it
/// has read.
class PassWorker final : machine::StoreObserver {
public:
  PassWorker(SharedReplay &S, BlockNumber First, uint64_t MostBytes);

  /// Replays block N, which must follow the one before.
  llvm::Error replay(BlockNumber N, const Block &B, BlockObserver &To);
  /// Leaves out the blocks before N.
  void skipTo(BlockNumber N);

private:
  void store(uint32_t Instruction, uint64_t Address, uint32_t Size,
             const uint8_t *Old, const uint8_t *New) override;
  void load(uint32_t Instruction, uint64_t Address, uint32_t Size,
            const uint8_t *Bytes) override;
  Access access(uint32_t Instruction, uint64_t Address, uint32_t Size,
                const uint8_t *Bytes) const;
  bool run(const Block &B);
  void collectReads();

  SharedReplay &S;
  const uint64_t MostBytes;
  replay::TracePages Pages;
  machine::ReplayMemory Memory;
  replay::BlockReplayer Replayer;
  const Block *Current = nullptr;
  BlockObserver *Observed = nullptr;
  std::string Problem;
};

} // namespace chronicle::passes

#endif
