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

#include "query/answers/Activation.h"
#include "query/answers/Cancellation.h"
#include "query/answers/Execution.h"
#include "query/answers/IndexProgress.h"
#include "query/answers/Memory.h"
#include "query/answers/Module.h"
#include "query/answers/Ranges.h"
#include "query/answers/Read.h"
#include "query/answers/Registers.h"
#include "query/answers/ThreadInfo.h"
#include "query/answers/TimedEvent.h"
#include "query/answers/Write.h"
#include "query/files/FileOptions.h"
#include "trace-format/file/TraceReader.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace chronicle::symbols {
struct SymbolAt;
class Symbols;
} // namespace chronicle::symbols

namespace chronicle::query {

struct TraceOptions {
  uint64_t CacheBytes = 256ull << 20;
  files::FileOptions Files; ///< where the files of the program are
};

class Trace {
public:
  static llvm::Expected<std::unique_ptr<Trace>> open(llvm::StringRef Path,
                                                     TraceOptions Options = {});
  ~Trace();

  const file::TraceReader &reader() const;
  const symbols::Symbols &symbols() const;
  Timestamp instructions() const;

  /// The thread that runs instruction T. At the end, the one that a signal
  /// killed, or that ran last. One block.
  llvm::Expected<uint32_t> threadAt(Timestamp T) const;
  /// The state of any thread alive at T. One block.
  llvm::Expected<answers::Registers> registers(uint32_t Thread,
                                               Timestamp T) const;
  /// Any length; unmapped parts are said so. One chunk a page, and one block.
  llvm::Expected<answers::MemoryContents>
  memory(uint64_t Address, uint64_t Length, Timestamp T) const;
  /// The address of a thread-local variable in a thread at T. Fails if the
  /// thread has none yet, or if recorded memory does not say where it is.
  llvm::Expected<uint64_t> threadLocalAddress(const symbols::SymbolAt &Variable,
                                              uint32_t Thread,
                                              Timestamp T) const;
  llvm::Expected<std::vector<answers::Mapping>> map(Timestamp T) const;
  llvm::Expected<std::vector<answers::Module>> modules(Timestamp T) const;
  llvm::Expected<std::vector<answers::ThreadInfo>> threads(Timestamp T) const;
  /// Every thread of the run, in order of their numbers, which is the order in
  /// which they were made.
  llvm::ArrayRef<answers::ThreadInfo> allThreads() const;

  /// Writes that touch the range, byte-exact. The last one before, the first
  /// one from, or all within a time range, in order (newest first if Backward);
  /// Visit returns false to end. Cost: log n + one block a candidate.
  llvm::Error writes(answers::AddressRange Range, answers::TimeRange When,
                     bool Backward,
                     llvm::function_ref<bool(const answers::Write &)> Visit,
                     const answers::Cancellation *Cancel = nullptr) const;
  /// Reads of the range by instructions, as writes() finds writes. Makes the
  /// index of reads first if there is none (readIndex()).
  llvm::Error reads(answers::AddressRange Range, answers::TimeRange When,
                    bool Backward,
                    llvm::function_ref<bool(const answers::Read &)> Visit,
                    const answers::Cancellation *Cancel = nullptr) const;
  /// What the index of reads is: made by replaying the whole run when it is
  /// first asked for, and kept in a file from then on.
  struct ReadIndexFacts {
    uint64_t Bytes;
    std::string Path; ///< of the file; empty if it is only in memory
  };
  /// Opens or makes the index of reads. Nothing if that was cancelled: what is
  /// made already is kept, and the next call goes on from there.
  llvm::Expected<std::optional<ReadIndexFacts>>
  readIndex(const answers::IndexProgress &Progress) const;
  /// Instructions executed whose address is in the range. Thread 0: any.
  llvm::Error
  executions(answers::AddressRange Code, answers::TimeRange When,
             uint32_t Thread, bool Backward,
             llvm::function_ref<bool(const answers::Execution &)> Visit,
             const answers::Cancellation *Cancel = nullptr) const;
  llvm::Expected<uint64_t>
  countExecutions(answers::AddressRange Code, answers::TimeRange When,
                  uint32_t Thread,
                  const answers::Cancellation *Cancel = nullptr) const;

  /// The activations of the thread at T, innermost first, and no more than
  /// Most. One block, and a few lookups per activation.
  llvm::Expected<std::vector<answers::Activation>>
  callStack(uint32_t Thread, Timestamp T, size_t Most = ~size_t(0)) const;
  /// When the activation ends: the first T at which the stack pointer is above
  /// its value at entry. Nothing: not within the run.
  llvm::Expected<std::optional<Timestamp>>
  returnOf(const answers::Activation &A) const;
  /// The last stretch before T of the activation's own instructions, without
  /// those of its callees, as far as the block of the instruction before T
  /// tells; other threads may run in it. Nothing: there is none in that block.
  /// Free, once the calls of the block are known.
  llvm::Expected<std::optional<answers::TimeRange>>
  stretchBefore(const answers::Activation &A, Timestamp T) const;
  /// The calls it makes itself, in order.
  llvm::Error
  callees(const answers::Activation &A,
          llvm::function_ref<bool(const answers::Activation &)> Visit,
          const answers::Cancellation *Cancel = nullptr) const;

  /// Events of the kinds in the mask (1 << kind) in a time range, in order.
  llvm::Error
  events(uint64_t Kinds, answers::TimeRange When, bool Backward,
         llvm::function_ref<bool(const answers::TimedEvent &)> Visit,
         const answers::Cancellation *Cancel = nullptr) const;

private:
  Trace();
  struct Impl;
  std::unique_ptr<Impl> I;
};

} // namespace chronicle::query

#endif
