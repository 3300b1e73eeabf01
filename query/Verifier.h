// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The proof that a trace is exact: replays every block and compares where it
/// arrives with what was recorded.

#ifndef CHRONICLE_QUERY_VERIFIER_H
#define CHRONICLE_QUERY_VERIFIER_H

#include "query/BlockReplayer.h"
#include <map>

namespace chronicle {

struct VerifyOptions {
  unsigned Threads = 0;        ///< 0: one a processor
  uint64_t MaxMismatches = 20; ///< how many are kept in the report
  /// Pages and page chunks that all threads together may keep; beyond it they
  /// are given up after the block and read again when they are needed.
  uint64_t MemoryBytes = uint64_t(1) << 30;
  /// One block in InterpretedShare is interpreted as questions are; in the
  /// others, what runs often runs as native code. False interprets all.
  bool Native = true;
  static constexpr unsigned InterpretedShare = 8;
  /// Called now and then, from any thread, with what is done.
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
  /// How often the pages kept became too many.
  uint64_t MemoryResets = 0;
  uint64_t MismatchCount = 0;
  std::vector<Mismatch> Mismatches; ///< in order of time, cut to the limit
  /// Why the trace is not whole, or empty.
  std::string Incomplete;
  bool clean() const { return MismatchCount == 0 && Incomplete.empty(); }
};

/// Compares, for every block: each exit taken and each instruction pointer; the
/// registers of every thread where it stops with its next snapshot (all fields
/// of GuestState.h but EMNOTE, CMSTART, CMLEN and NRADDR); every granule
/// written with the page chunks' bytes, in both directions; how many
/// instructions ran and opaque bytes were used. Of a last block whose stores
/// the recorder did not live to tell, there is no memory to compare. Uses all
/// processors; memory: as VerifyOptions says, what one block needs at least,
/// and the program's decoded superblocks once.
///
/// Native code and interpreter must come to the same end, or one of them does
/// not match what was recorded; so a share of the blocks is for each.
VerifyReport verifyTrace(const TraceReader &Trace,
                         const VerifyOptions &Options);

} // namespace chronicle

#endif
