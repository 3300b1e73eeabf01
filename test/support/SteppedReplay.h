// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Goes through a run from its first instruction to its last, one at a time,
/// without any index or stored program.

#ifndef CHRONICLE_TEST_SUPPORT_STEPPEDREPLAY_H
#define CHRONICLE_TEST_SUPPORT_STEPPEDREPLAY_H

#include "query/replay/BlockReplayer.h"
#include "query/replay/TracePages.h"

namespace chronicle {

/// Replays every block and stops before every instruction. Tests derive from it
/// what they compare the query engine with.
class SteppedReplay {
public:
  explicit SteppedReplay(const file::TraceReader &Trace);
  virtual ~SteppedReplay();

protected:
  /// Steps through the whole run. False: something went wrong, and failed() was
  /// called.
  bool stepThrough();

  /// Called before the first event of a block.
  virtual void startBlock(const Block &B) {}
  /// Called before the replay goes on to the state at T. If it is not the first
  /// one of the block, instruction T - 1 runs on the way.
  virtual void beforeStep(Timestamp T, const Block &B) {}
  /// Called at the state at T, up to the end of the block. False stops the run.
  virtual bool afterStep(Timestamp T, const Block &B) { return true; }
  virtual void endBlock(const Block &B) {}
  virtual void event(const Event &E, Timestamp T) = 0;
  /// Called with what went wrong.
  virtual void failed(const llvm::Twine &What) = 0;

  static bool isEnd(Timestamp T, const Block &B) {
    return T == B.First + B.Instructions;
  }
  static uint64_t wordAt(const uint8_t *State, unsigned Offset);

  const file::TraceReader &Trace;
  replay::TracePages Pages;
  machine::ReplayMemory Memory;
  program::ProgramCache Programs; ///< all of them built here
  replay::ExitTable Exits;
  replay::BlockReplayer Replayer;
};

} // namespace chronicle

#endif
