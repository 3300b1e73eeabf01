// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Follows the calls of a run by a model that knows nothing of superblocks or
/// indexes. What an instruction is, it reads from the program's memory; which
/// stack an address belongs to, it takes from the mappings.

#ifndef CHRONICLE_TEST_CHECK_NAIVERUN_H
#define CHRONICLE_TEST_CHECK_NAIVERUN_H

#include "test/support/SteppedReplay.h"
#include "trace-format/events/Events.h"
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

class NaiveRun : SteppedReplay {
public:
  explicit NaiveRun(const file::TraceReader &Trace) : SteppedReplay(Trace) {}

  /// Called before each instruction with its time, thread and address.
  std::function<void(Timestamp, uint32_t, uint64_t)> OnInstruction;
  /// Goes through the whole run. False: replay went wrong.
  bool run() { return stepThrough() && Sound; }

  std::vector<NaiveFrame> Frames; ///< of the whole run, in order
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
    std::vector<bool> Signals; ///< about to be delivered; on the signal stack?
    std::vector<uint64_t> SignalFrames;
    uint64_t Rip = 0;
  };
  void startBlock(const Block &B) override;
  bool afterStep(Timestamp T, const Block &B) override;
  void event(const Event &E, Timestamp T) override;
  void failed(const llvm::Twine &What) override;
  void registers(const events::RegistersEvent &R, Timestamp When);
  void instruction(Timestamp T, uint32_t Number, uint64_t Pc);
  void moved(Thread &T, uint32_t Number, uint64_t To, Timestamp When);
  void drop(Stack &S, uint64_t Above, Timestamp When);
  size_t push(Thread &T, uint32_t Number, NaiveFrame F);
  uint64_t regionOf(uint64_t Address, const Thread &T) const;
  bool isCall(uint64_t Pc);

  std::map<uint32_t, Thread> Threads;
  std::map<uint64_t, std::pair<uint64_t, uint64_t>>
      Regions; ///< start: end, key
  bool Sound = true;
};

} // namespace chronicle

#endif
