// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Which superblock ran in which blocks, for a range of blocks.
///
///   executions := first-block:v blocks:v groups:v (last:v size:v)* superblock*
///   superblock := id:v runs:v (gap:v length:v)*
///
/// Superblocks are sorted; id is the delta to the one before. A run is blocks
/// in a row in which it ran; gap is counted from first-block, then from the end
/// of the run before. So that a superblock is found without reading past all
/// before it, they are in groups of 64: the id of each group's last superblock,
/// as a delta to that of the group before, and the group's size in bytes.
///
/// The directory has the same once more, with the pieces in place of blocks:
/// which superblock ran in which of them.

#ifndef CHRONICLE_TRACE_FORMAT_EXECUTIONFORMAT_H
#define CHRONICLE_TRACE_FORMAT_EXECUTIONFORMAT_H

#include "trace-format/Bytes.h"
#include "trace-format/TraceData.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace chronicle {

/// Blocks in a row in which a superblock ran.
struct ExecutionRun {
  uint32_t Superblock;
  uint32_t First, Last; ///< blocks, both included
};

/// A piece. What it says of a superblock is looked up in its bytes, past the
/// groups before its own: a few processor instructions for 64 superblocks, and
/// half a group. Decoding all for one question would cost a thousand times
/// that, and the memory.
class ExecutionRange {
public:
  /// The bytes must outlive it.
  static llvm::Expected<ExecutionRange> create(llvm::ArrayRef<uint8_t> Bytes);

  BlockNumber first() const { return First; }
  BlockNumber last() const { return Last; }
  /// Calls Visit with the runs of these superblocks, which are sorted: by
  /// superblock, then block.
  llvm::Error visit(llvm::ArrayRef<uint32_t> Superblocks,
                    llvm::function_ref<void(const ExecutionRun &)> Visit) const;

private:
  ExecutionRange() = default;
  struct Group;
  llvm::Error
  visitGroup(const Group &G, llvm::ArrayRef<uint32_t> &Superblocks,
             llvm::function_ref<void(const ExecutionRun &)> Visit) const;
  BlockNumber First = 0, Last = 0;
  uint64_t Groups = 0;
  llvm::ArrayRef<uint8_t> Table; ///< of groups, and what follows it
  llvm::ArrayRef<uint8_t> Lists;
};

/// Gathers the runs, block by block. Memory: 12 bytes a run, and 16 a
/// superblock.
class ExecutionsWriter {
public:
  /// Blocks come in order. True if that is new.
  bool ran(uint32_t Superblock, BlockNumber N) {
    if (Superblock >= Lists.size())
      Lists.resize(Superblock + Superblock / 2 + 16);
    List &L = Lists[Superblock];
    uint32_t End = uint32_t(N) + 1;
    if (L.End == End)
      return false;
    bool First = L.End <= Start;
    if (!First && L.End == End - 1) {
      L.End = End;
      return true;
    }
    if (First)
      Touched.push_back(Superblock);
    else
      close(L);
    L.First = End - 1;
    L.End = End;
    return true;
  }
  size_t runs() const { return Closed.size() + Touched.size(); }
  /// Those that ran since first(), in no order.
  llvm::ArrayRef<uint32_t> superblocks() const { return Touched; }
  BlockNumber first() const { return Start; }
  /// The piece for all blocks below End, or nothing if there are none.
  ByteWriter take(BlockNumber End);

private:
  static constexpr uint32_t None = ~uint32_t(0);
  /// The runs of a superblock: those that are over, and the last one.
  struct List {
    uint32_t First = 0, End = 0; ///< End > Start: belongs to this piece
    uint32_t Head = None, Tail = None;
  };
  struct Run {
    uint32_t First, End, Next;
  };
  void close(List &L) {
    uint32_t Number = uint32_t(Closed.size());
    Closed.push_back({L.First, L.End, None});
    (L.Head == None ? L.Head : Closed[L.Tail].Next) = Number;
    L.Tail = Number;
  }

  std::vector<List> Lists;       ///< by superblock
  std::vector<uint32_t> Touched; ///< superblocks, since Start
  std::vector<Run> Closed;
  uint32_t Start = 0;
};

} // namespace chronicle

#endif
