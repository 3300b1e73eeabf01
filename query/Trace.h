// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The query engine: any state and any search over a recorded run. Everything a
/// front end does goes through here.
///
/// State *at* T is before instruction T runs; T = instructions() is the end.
/// All functions are const and may be called from several threads at once; what
/// they compute is cached, within TraceOptions::CacheBytes.

#ifndef CHRONICLE_QUERY_TRACE_H
#define CHRONICLE_QUERY_TRACE_H

#include "trace-format/TraceReader.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace chronicle {

class Symbols;

struct TraceOptions {
  uint64_t CacheBytes = 256ull << 20;
  /// Where separate debug files are looked for (SymbolOptions).
  std::vector<std::string> DebugDirectories = {"/usr/lib/debug"};
};

/// A thread's complete state: the guest state of trace-format/GuestState.h, and
/// readers for what people ask for.
struct Registers {
  std::array<uint8_t, 928> State;
  uint64_t word(unsigned Offset) const;
  uint64_t rip() const;
  uint64_t rsp() const;
  /// rflags, evaluated.
  uint64_t flags() const;
  /// ymm0 to ymm15.
  llvm::ArrayRef<uint8_t> ymm(unsigned N) const;
};

/// A range of memory, some of which may not be mapped: Mapped lists the parts
/// that are, as [first, last) offsets into Bytes; the rest of Bytes is zero.
struct MemoryContents {
  std::vector<uint8_t> Bytes;
  std::vector<std::pair<uint64_t, uint64_t>> Mapped;
};

struct Mapping {
  uint64_t Address = 0, Length = 0, Offset = 0;
  uint32_t Protection = 0, Flags = 0; ///< CH_PROT_*, CH_MAP_*
  uint32_t Object = 0;                ///< shared object, or 0
  std::string Path;
};

/// An ELF file mapped into the program.
struct Module {
  std::string Path;
  uint64_t Address = 0; ///< of its first mapping
  uint64_t Size = 0;
  std::string BuildId; ///< hexadecimal; empty: none
};

struct ThreadInfo {
  uint32_t Number = 0, Parent = 0;
  uint64_t OsThread = 0;
  Timestamp Started = 0;
  std::optional<Timestamp> Exited;
};

/// Who wrote memory.
enum class Writer {
  Instruction,
  SystemCall,
  Signal,
  Mapping,
  Thread,
  Core,
  Outside
};

struct Write {
  Timestamp Time = 0; ///< of the instruction; visible at Time + 1. Of anything
                      ///< else: visible at Time
  uint32_t Thread = 0;
  Writer By = Writer::Instruction;
  uint64_t Pc = 0; ///< of the instruction, or of the next one
  uint64_t Address = 0;
  /// All bytes of the write, also those outside the range asked for.
  std::vector<uint8_t> Old, New;
  uint32_t SystemCall = 0; ///< number, By SystemCall
};

struct Execution {
  Timestamp Time = 0;
  uint32_t Thread = 0;
  uint64_t Pc = 0;
};

struct TimeRange {
  Timestamp First = 0, Last = ~Timestamp(0); ///< both included
};

struct AddressRange {
  uint64_t First = 0, Last = 0; ///< both included
};

/// One call of a procedure, as history knows it.
struct Activation {
  Timestamp Entry = 0; ///< of the callee's first instruction
  /// The pc of the call; 0: entered otherwise (thread start, signal).
  uint64_t CallSite = 0;
  uint64_t Callee = 0;       ///< pc at Entry
  uint64_t StackPointer = 0; ///< at entry: where the return address is
  uint32_t Thread = 0;
  bool Signal = false; ///< a signal handler, entered by the kernel
  uint64_t Pc = 0; ///< where it is at the moment asked about: in the innermost
                   ///< the pc, in the others the call under way
};

/// An event with its time. Payload as in trace-format/Stream.h.
struct TimedEvent {
  Timestamp Time = 0;
  BlockNumber Block = 0;
  uint32_t Kind = 0;
  std::vector<uint8_t> Payload;
};

/// Set from another thread to end a long search early.
struct Cancellation {
  std::atomic<bool> Cancelled{false};
};

class Trace {
public:
  static llvm::Expected<std::unique_ptr<Trace>> open(llvm::StringRef Path,
                                                     TraceOptions Options = {});
  ~Trace();

  const TraceReader &reader() const;
  const Symbols &symbols() const;
  Timestamp instructions() const;

  /// The thread that runs instruction T (at the end: that ran last). One block.
  llvm::Expected<uint32_t> threadAt(Timestamp T) const;
  /// The state of any thread alive at T. One block.
  llvm::Expected<Registers> registers(uint32_t Thread, Timestamp T) const;
  /// Any length; unmapped parts are said so. One chunk a page, and one block.
  llvm::Expected<MemoryContents> memory(uint64_t Address, uint64_t Length,
                                        Timestamp T) const;
  llvm::Expected<std::vector<Mapping>> map(Timestamp T) const;
  llvm::Expected<std::vector<Module>> modules(Timestamp T) const;
  llvm::Expected<std::vector<ThreadInfo>> threads(Timestamp T) const;
  /// Every thread of the run, in order of their numbers, which is the order in
  /// which they were made.
  llvm::ArrayRef<ThreadInfo> allThreads() const;

  /// Writes that touch the range, byte-exact. The last one before, the first
  /// one from, or all within a time range, in order (newest first if Backward);
  /// Visit returns false to end. Cost: log n + one block a candidate.
  llvm::Error writes(AddressRange Range, TimeRange When, bool Backward,
                     llvm::function_ref<bool(const Write &)> Visit,
                     const Cancellation *Cancel = nullptr) const;
  /// Instructions executed whose address is in the range. Thread 0: any.
  llvm::Error executions(AddressRange Code, TimeRange When, uint32_t Thread,
                         bool Backward,
                         llvm::function_ref<bool(const Execution &)> Visit,
                         const Cancellation *Cancel = nullptr) const;
  llvm::Expected<uint64_t>
  countExecutions(AddressRange Code, TimeRange When, uint32_t Thread,
                  const Cancellation *Cancel = nullptr) const;

  /// The activations of the thread at T, innermost first. One block.
  llvm::Expected<std::vector<Activation>> callStack(uint32_t Thread,
                                                    Timestamp T) const;
  /// When the activation ends: the first T at which the stack pointer is above
  /// its value at entry. Nothing: not within the run.
  llvm::Expected<std::optional<Timestamp>> returnOf(const Activation &A) const;
  /// The last stretch before T of the activation's own instructions, without
  /// those of its callees, as far as the block of the instruction before T
  /// tells; other threads may run in it. Nothing: there is none in that block.
  /// Free, once the calls of the block are known.
  llvm::Expected<std::optional<TimeRange>> stretchBefore(const Activation &A,
                                                         Timestamp T) const;
  /// The calls it makes itself, in order.
  llvm::Error callees(const Activation &A,
                      llvm::function_ref<bool(const Activation &)> Visit,
                      const Cancellation *Cancel = nullptr) const;

  /// Events of the kinds in the mask (1 << kind) in a time range, in order.
  llvm::Error events(uint64_t Kinds, TimeRange When, bool Backward,
                     llvm::function_ref<bool(const TimedEvent &)> Visit,
                     const Cancellation *Cancel = nullptr) const;

private:
  Trace();
  struct Impl;
  std::unique_ptr<Impl> I;
};

} // namespace chronicle

#endif
