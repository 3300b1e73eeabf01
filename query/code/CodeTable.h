// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The facts about all superblocks of a trace.

#ifndef CHRONICLE_QUERY_CODE_CODETABLE_H
#define CHRONICLE_QUERY_CODE_CODETABLE_H

#include "query/code/CodeFacts.h"
#include "trace-format/ZeroedTable.h"
#include "trace-format/file/TraceReader.h"
#include <atomic>
#include <mutex>

namespace chronicle::code {

/// All superblocks of a trace. The facts about one are worked out when they are
/// first asked for (about a thousand processor instructions) and kept (about
/// 150 bytes). May be used from several threads at once.
class CodeTable {
public:
  explicit CodeTable(const file::TraceReader &Trace)
      : Trace(Trace),
        Longest(uint64_t(Trace.longestSuperblock()) * LongestInstruction),
        Known(Trace.superblockCount()) {}

  /// By exit, how many instructions an execution passes that leaves by it, as
  /// far as the trace has it; passedByFacts() works out the rest.
  llvm::ArrayRef<uint8_t> passed() const {
    std::call_once(PassedOnce, [this] { findPassed(); });
    return Passed;
  }
  llvm::Expected<uint32_t> passedByFacts(uint32_t Exit) const;

  /// Fails if the definition is damaged.
  llvm::Expected<const CodeFacts *> facts(uint32_t Superblock) const;
  /// False if the superblock begins too far away to have an instruction in
  /// [First, Last].
  bool mayContain(uint32_t Superblock, uint64_t First, uint64_t Last) const {
    const uint64_t Lowest = First - std::min(First, Longest);
    return Trace.superblockAddresses()[Superblock] - Lowest <= Last - Lowest;
  }
  /// The superblocks with an instruction that begins in [First, Last], in order
  /// of ids. Looks at where each superblock begins, which takes a nanosecond or
  /// less each: with fewer than a million of them, sorting them by address
  /// would cost more than all the searches of a session.
  llvm::Expected<std::vector<uint32_t>> containing(uint64_t First,
                                                   uint64_t Last) const;

private:
  void findPassed() const;

  /// How long an x86 instruction can be, in bytes.
  static constexpr uint32_t LongestInstruction = 15;

  const file::TraceReader &Trace;
  const uint64_t Longest; ///< superblock, in bytes
  mutable std::once_flag PassedOnce;
  mutable llvm::ArrayRef<uint8_t> Passed; ///< by exit; may be empty
  using Slot = std::atomic<const CodeFacts *>;
  mutable ZeroedTable<Slot> Known;
  mutable std::mutex Lock;
  mutable std::vector<std::unique_ptr<const CodeFacts>> Made;
};

} // namespace chronicle::code

#endif
