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
/// The index is the same once more, with the pieces in place of blocks: which
/// superblock ran in which of them. It is in parts, each for a range of
/// superblocks, so that a question reads only those of its own.

#ifndef CHRONICLE_TRACE_FORMAT_PIECES_EXECUTIONFORMAT_H
#define CHRONICLE_TRACE_FORMAT_PIECES_EXECUTIONFORMAT_H

#include "trace-format/Bytes.h"
#include "trace-format/TraceData.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace chronicle::pieces {

/// Blocks in a row in which a superblock ran.
struct ExecutionRun {
  uint32_t Superblock;
  uint32_t First, Last; ///< blocks, both included
};

/// A piece. A superblock is looked up in the piece's bytes: that costs a few
/// processor instructions for each group of 64 superblocks before its own, and
/// reading half a group. Decoding all of it for one question would cost a
/// thousand times as much, and memory.
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

/// Gathers the runs, block by block. The last few blocks have one bit each per
/// superblock, because a superblock that runs at all mostly runs in many of
/// them, and branches on which would be mispredicted. Memory: 12 bytes per run
/// and 28 per superblock.
class ExecutionsWriter {
public:
  /// Blocks come in order. Costs a few nanoseconds, if the superblock's word is
  /// in a cache.
  void ran(uint32_t Superblock, BlockNumber N) {
    if (N - RecentFirst >= RecentBlocks)
      settle(N);
    if (Superblock >= Recent.size())
      grow(Superblock);
    uint64_t &Bits = Recent[Superblock];
    const unsigned Bit = unsigned(N - RecentFirst);
    Listed[ListedCount] = Superblock;
    ListedCount += Bits == 0;
    Runs += (Bits >> Bit & 3) == 0;
    Bits |= uint64_t(2) << Bit;
  }
  /// Since first().
  size_t runs() const { return Runs; }
  BlockNumber first() const { return Start; }
  /// The piece for all blocks below End, or nothing if there are none.
  ByteWriter take(BlockNumber End);
  struct Part {
    uint32_t First; ///< superblock
    ByteWriter Bytes;
  };
  /// The same in parts of about this many bytes each, by superblock.
  std::vector<Part> takeParts(BlockNumber End, size_t PartBytes);

  /// About what was taken: the superblocks of the last piece; a number above
  /// all superblocks; in how many blocks one ran.
  llvm::ArrayRef<uint32_t> superblocks() const { return Taken; }
  uint32_t superblockEnd() const { return uint32_t(Lists.size()); }
  uint32_t blocksOf(uint32_t Superblock) const {
    return Lists[Superblock].Blocks;
  }

private:
  static constexpr uint32_t None = ~uint32_t(0);
  /// The runs of a superblock: those that are over, and the last one.
  struct List {
    uint32_t First = 0, End = 0; ///< End > Start: belongs to this piece
    uint32_t Head = None, Tail = None;
    uint32_t Blocks = 0;
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
  /// Turns the bits of the recent blocks into runs. Blocks from N on are recent
  /// then.
  void settle(BlockNumber N);
  void settle(uint32_t Superblock, uint64_t Blocks, bool GoesOn);
  void grow(uint32_t Superblock);
  void gather(BlockNumber End);
  void startAt(BlockNumber N);
  /// Encodes the runs of these superblocks, and empties their lists.
  ByteWriter encode(llvm::ArrayRef<uint32_t> Superblocks, BlockNumber End);

  /// One less than the bits of a word: bit 0 is for the block before them.
  static constexpr unsigned RecentBlocks = 63;
  /// By superblock: a bit for each recent block, from bit 1 on; bit 0 is the
  /// block before, if that is of the same piece.
  std::vector<uint64_t> Recent;
  uint32_t RecentFirst = 0;
  std::vector<uint32_t> Listed; ///< those with a bit, and room for all
  size_t ListedCount = 0;
  size_t Runs = 0;

  std::vector<List> Lists;       ///< by superblock
  std::vector<uint32_t> Touched; ///< superblocks of the piece
  std::vector<uint32_t> Taken;   ///< those of the piece before
  std::vector<Run> Closed;
  uint32_t Start = 0;
};

} // namespace chronicle::pieces

#endif
