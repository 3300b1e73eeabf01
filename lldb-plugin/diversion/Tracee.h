// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A process under ptrace whose memory is ours to fill and none of whose system
/// calls reach the kernel.

#ifndef CHRONICLE_LLDB_PLUGIN_DIVERSION_TRACEE_H
#define CHRONICLE_LLDB_PLUGIN_DIVERSION_TRACEE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <atomic>
#include <csignal>
#include <memory>
#include <sys/types.h>
#include <sys/user.h>
#include <vector>

namespace chronicle::diversion {

inline constexpr uint64_t PageSize = 4096;

/// A system call that the process makes for us.
struct SystemCall {
  uint64_t Number = 0;
  uint64_t Arguments[6] = {};
  int64_t Result = 0;
};

/// Runs code natively. What the code asks of the kernel is reported and never
/// done: the owner decides, and makes the process do what is allowed by call().
/// The process has no descriptors, cannot get privileges, is killed by any
/// system call but those of memory, and does not outlive the thread that made
/// it. Making one costs about a millisecond. Every function but interrupt()
/// must be called on the thread that made it.
class Tracee {
public:
  static llvm::Expected<std::unique_ptr<Tracee>> create();
  ~Tracee();
  Tracee(const Tracee &) = delete;
  Tracee &operator=(const Tracee &) = delete;

  /// The pages that the process needs for itself.
  static constexpr uint64_t ControlSize = 4 * PageSize;
  /// Moves the process's own pages to an address, unmaps everything else, and
  /// takes away what it could do besides changing its own memory.
  llvm::Error occupy(uint64_t Control);

  /// Makes the process do the calls, and sets their results.
  llvm::Error call(llvm::MutableArrayRef<SystemCall> Calls);

  /// These do not ask for permissions of the memory.
  llvm::Error read(uint64_t Address, llvm::MutableArrayRef<uint8_t> Into) const;
  llvm::Error write(uint64_t Address, llvm::ArrayRef<uint8_t> Bytes);

  /// What resume() starts from.
  user_regs_struct General = {};
  /// The rest of the registers, in the form of XSAVE.
  llvm::Expected<std::vector<uint8_t>> extended() const;
  llvm::Error setExtended(llvm::ArrayRef<uint8_t> Area);

  struct Event {
    enum { SystemCall, Signal, Interrupted, Gone } What = Gone;
    siginfo_t Info = {}; ///< of a signal, which is not delivered
  };
  /// Runs, or steps, until something happens.
  llvm::Expected<Event> resume(bool Step);
  /// Makes resume() return, or the next one. Any thread may call this.
  void interrupt();

private:
  Tracee(pid_t Process, int Memory) : Process(Process), Memory(Memory) {}
  llvm::Error start();
  llvm::Expected<int> wait() const;

  const pid_t Process;
  const int Memory; ///< /proc/…/mem
  uint64_t Loop = 0, Table = 0, TableSize = 0;
  std::atomic<bool> WantsStop = false;
};

} // namespace chronicle::diversion

#endif
