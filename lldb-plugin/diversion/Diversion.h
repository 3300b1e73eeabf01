// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A moment of a trace brought to life, so that its code can be called.

#ifndef CHRONICLE_LLDB_PLUGIN_DIVERSION_DIVERSION_H
#define CHRONICLE_LLDB_PLUGIN_DIVERSION_DIVERSION_H

#include "lldb-plugin/diversion/KeptHeap.h"
#include "lldb-plugin/diversion/MachineState.h"
#include "lldb-plugin/diversion/MomentMemory.h"
#include "query/answers/Cancellation.h"
#include <chrono>
#include <set>

namespace chronicle::diversion {

/// Why a diversion stopped.
struct DivertedStop {
  enum Reason {
    Breakpoint,
    Step,
    Signal,      ///< which has not been delivered
    Refused,     ///< a system call that a diversion does not make
    Interrupted, ///< by the user, or at the time limit
  } Why = Interrupted;
  int Number = 0;   ///< of the signal
  std::string Text; ///< a sentence about it; may be empty
};

/// A process with the memory of the moment and one of its threads. The code
/// runs on the processor itself. Nothing that it does reaches the trace or the
/// world: system calls are answered here (KernelAnswers) or end the run.
/// Destroying it throws everything away. Making one costs one to two
/// milliseconds, each group of pages that the code touches some 50
/// microseconds. Must be used on the thread that made it.
class Diversion {
public:
  struct Moment {
    const query::Trace &T;
    Timestamp Time;
    uint64_t Process, Thread; ///< the system's numbers of the recorded ones
  };
  static llvm::Expected<std::unique_ptr<Diversion>>
  create(const Moment &At, Scratch &Own, KeptHeap &Heap);
  ~Diversion();

  llvm::Expected<MachineState> registers() const;
  llvm::Error setRegisters(const MachineState &To);
  MomentMemory &memory() { return *Memory; }

  struct RunOptions {
    bool Step = false;
    const std::multiset<uint64_t> &Breakpoints;
    const answers::Cancellation &Cancel;
    std::chrono::milliseconds TimeLimit;
    /// Gets what the code writes to standard output and error.
    llvm::function_ref<void(llvm::StringRef)> Print;
  };
  llvm::Expected<DivertedStop> run(const RunOptions &How);

private:
  Diversion(const Moment &At, std::unique_ptr<Tracee> P, KeptHeap &Heap)
      : At(At), P(std::move(P)), Heap(Heap) {}
  llvm::Expected<std::optional<DivertedStop>> handle(const Tracee::Event &Event,
                                                     const RunOptions &How);
  llvm::Expected<std::optional<DivertedStop>>
  handleSignal(const siginfo_t &Info, const RunOptions &How);
  llvm::Error plant(uint64_t Page);
  void takeOut();

  Moment At;
  std::unique_ptr<Tracee> P;
  KeptHeap &Heap;
  std::unique_ptr<MomentMemory> Memory;
  const std::multiset<uint64_t> *Wanted = nullptr; ///< breakpoints of this run
  std::map<uint64_t, uint8_t> Planted; ///< and the bytes that were there
};

} // namespace chronicle::diversion

#endif
