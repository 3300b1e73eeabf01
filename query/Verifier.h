// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Proves that a trace is exact: replays every block and compares where it
/// arrives with what was recorded.

#ifndef CHRONICLE_QUERY_VERIFIER_H
#define CHRONICLE_QUERY_VERIFIER_H

#include "query/replay/Mismatch.h"
#include "trace-format/file/TraceReader.h"
#include <functional>
#include <map>

namespace chronicle::query {

struct VerifyOptions {
  unsigned Threads = 0;        ///< 0: one per processor
  uint64_t MaxMismatches = 20; ///< how many are kept in the report
  /// How many bytes of pages and page chunks all threads together may keep.
  /// When there are more, they are dropped after the block and read again as
  /// needed.
  uint64_t MemoryBytes = uint64_t(1) << 30;
  /// Runs hot superblocks as native code, except in one block of
  /// InterpretedShare, which is interpreted throughout. False interprets all.
  bool Native = true;
  static constexpr unsigned InterpretedShare = 8;
  /// Called after each block, from any thread, with what is done so far.
  std::function<void(uint64_t Blocks, uint64_t Instructions)> Progress;
};

struct VerifyReport {
  uint64_t Blocks = 0, Instructions = 0, Executions = 0;
  uint64_t InterpretedBlocks = 0; ///< of Blocks: no native code was used
  double Seconds = 0;
  unsigned Threads = 0;
  uint64_t ComparedSnapshots = 0, ComparedGranules = 0;
  uint64_t OpaqueBytes = 0;
  std::map<uint32_t, uint64_t> OpaqueByReason;
  /// Frames that were read but never written; they read as zero.
  uint64_t AbsentFrames = 0;
  /// How often pages were dropped because they were too many.
  uint64_t MemoryResets = 0;
  uint64_t MismatchCount = 0;
  std::vector<replay::Mismatch>
      Mismatches; ///< in order of time, cut to the limit
  /// Why the trace is not whole, or empty.
  std::string Incomplete;
  bool clean() const { return MismatchCount == 0 && Incomplete.empty(); }
};

/// Compares, for every block: each exit taken and each instruction pointer; the
/// registers of every thread where it stops with its next snapshot (all fields
/// of GuestState.h but EMNOTE, CMSTART, CMLEN and NRADDR); every granule
/// written with the bytes of the page chunks, in both directions; how many
/// instructions ran and how many opaque bytes were used. If the recorder was
/// killed before it could log the stores of the last block, there is no memory
/// to compare there. Uses all processors. Takes the memory that VerifyOptions
/// allows, but at least what one block needs, and the decoded superblocks of
/// the program once.
///
/// The interpreter and native code each replay a share of the blocks, so a
/// fault in either of them shows as a mismatch.
VerifyReport verifyTrace(const file::TraceReader &Trace,
                         const VerifyOptions &Options);

} // namespace chronicle::query

#endif
