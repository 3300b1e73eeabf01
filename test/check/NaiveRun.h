// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A run gone through from its first instruction to its last, one at a time, by
/// a model of calls that knows nothing of superblocks or indexes: what an
/// instruction is it reads from the program's memory, and which stack an
/// address belongs to from the mappings.

#ifndef CHRONICLE_TEST_CHECK_NAIVERUN_H
#define CHRONICLE_TEST_CHECK_NAIVERUN_H

#include "query/BlockReplayer.h"
#include "query/TracePages.h"
#include <functional>
#include <map>

namespace chronicle {

struct NaiveFrame {
  Timestamp Entry = 0, End = ~Timestamp(0);
  uint64_t Slot = 0, CallSite = 0, Callee = 0, Interrupted = 0;
  uint32_t Thread = 0;
  size_t Parent = ~size_t(0); ///< number of a frame
  bool Signal = false, First = false, Entered = false;
};

class NaiveRun {
public:
  explicit NaiveRun(const TraceReader &Trace);

  /// Called before each instruction with its time, thread and address.
  std::function<void(Timestamp, uint32_t, uint64_t)> OnInstruction;
  /// False: replay went wrong, or a superblock is not what memory says.
  bool run();

  std::vector<NaiveFrame> Frames; ///< all there ever were, in order
  /// The frames of a thread now, innermost first, as numbers.
  std::vector<size_t> stack(uint32_t Thread) const;
  std::vector<uint32_t> threads() const;

private:
  struct Stack {
    uint64_t Region = 0;
    std::vector<size_t> Frames;
    uint64_t Interrupted = 0; ///< region; of a signal stack
  };
  struct Thread {
    std::map<uint64_t, Stack> Stacks; ///< by region
    uint64_t Current = 0;
    uint64_t StackPointer = 0;
    std::vector<bool> Signals; ///< coming: on the signal stack?
    std::vector<uint64_t> SignalFrames;
    uint64_t Rip = 0;
  };
  void event(const Event &E, Timestamp T);
  void instruction(Timestamp T, uint32_t Number, uint64_t Pc);
  void moved(Thread &T, uint32_t Number, uint64_t To, Timestamp When);
  void drop(Stack &S, uint64_t Above, Timestamp When);
  size_t push(Thread &T, uint32_t Number, NaiveFrame F);
  uint64_t regionOf(uint64_t Address, const Thread &T) const;
  bool isCall(uint64_t Pc);

  const TraceReader &Trace;
  TracePages Pages;
  ReplayMemory Memory;
  ProgramCache Programs;
  ExitTable Exits;
  BlockReplayer Replayer;
  std::map<uint32_t, Thread> Threads;
  std::map<uint64_t, std::pair<uint64_t, uint64_t>>
      Regions; ///< start: end, key
  bool Sound = true;
};

} // namespace chronicle

#endif
