// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Which superblock ran in which blocks, for a range of blocks.
///
///   executions := first-block:v blocks:v superblock*
///   superblock := id:v runs:v (gap:v length:v)*
///
/// Superblocks are sorted; id is the delta to the one before. A run is blocks
/// in a row in which it ran; gap is counted from first-block, then from the end
/// of the run before.

#ifndef CHRONICLE_TRACE_FORMAT_EXECUTIONFORMAT_H
#define CHRONICLE_TRACE_FORMAT_EXECUTIONFORMAT_H

#include "trace-format/Bytes.h"
#include "trace-format/TraceData.h"
#include "llvm/Support/Error.h"

namespace chronicle {

/// Blocks in a row in which a superblock ran.
struct ExecutionRun {
  uint32_t Superblock;
  uint32_t First, Last; ///< blocks, both included
};

/// A decoded piece. 12 bytes a run.
struct ExecutionRange {
  BlockNumber First = 0, Last = 0;
  std::vector<ExecutionRun> Runs; ///< by superblock, then block

  llvm::ArrayRef<ExecutionRun> of(uint32_t Superblock) const;
};

/// Gathers the runs, block by block. Memory: 12 bytes a run, and 8 a
/// superblock.
class ExecutionsWriter {
public:
  /// Blocks come in order.
  void ran(uint32_t Superblock, BlockNumber N) {
    if (Superblock >= Open.size())
      Open.resize(Superblock + Superblock / 2 + 16);
    OpenRun &R = Open[Superblock];
    uint32_t B = uint32_t(N) + 1;
    if (R.End == B)
      return;
    if (R.End == B - 1 && R.End > Start) {
      R.End = B;
      return;
    }
    if (R.End > Start)
      Runs.push_back({Superblock, R.First, R.End - 1});
    else
      Touched.push_back(Superblock);
    R = {B - 1, B};
  }
  size_t runs() const { return Runs.size() + Touched.size(); }
  BlockNumber first() const { return Start; }
  /// The piece for all blocks below End, or nothing if there are none.
  ByteWriter take(BlockNumber End);

private:
  struct OpenRun {
    uint32_t First = 0, End = 0; ///< End > Start: belongs to this piece
  };
  std::vector<OpenRun> Open;      ///< by superblock
  std::vector<uint32_t> Touched;  ///< since Start
  std::vector<ExecutionRun> Runs; ///< closed
  uint32_t Start = 0;
};

llvm::Expected<ExecutionRange> decodeExecutions(llvm::ArrayRef<uint8_t> Bytes);

} // namespace chronicle

#endif
