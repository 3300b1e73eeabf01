// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The calls of one block: its activations, from when to when they lived, and
/// in which of them each thread was at any moment.

#ifndef CHRONICLE_QUERY_CALLS_BLOCKCALLS_H
#define CHRONICLE_QUERY_CALLS_BLOCKCALLS_H

#include "query/answers/Ranges.h"
#include "query/code/CodeTable.h"
#include "query/state/StateCache.h"

namespace chronicle::calls {

/// Making it replays the block up to the last place where the stack pointer is
/// set to a value that only replay knows. Afterwards everything is looked up.
/// Takes 64 bytes per activation that the block saw, and 16 per call and per
/// return.
class BlockCalls {
public:
  static constexpr uint32_t None = ~uint32_t(0);
  static constexpr Timestamp Never = ~Timestamp(0);

  struct Node {
    pieces::CallRecord Call; ///< Node: its number in the file, or 0
    uint32_t Parent = None;
    /// The number of the parent in the file, if it is not a node: of a deep
    /// stack only the innermost calls are.
    uint32_t Outer = 0;
    uint32_t Thread = 0;
    Timestamp End = Never; ///< Never: not in this block
    /// For the first activation of a stack and for one with Outer, the highest
    /// stack pointer seen on the stack. With Interrupts, see there: for a
    /// signal handler that was entered in this block.
    uint64_t Extra = 0;
    bool Created = false; ///< in this block; false: it was there at its start
    bool Hidden = false;  ///< not a call: only the bottom of a signal stack
    bool Interrupts = false; ///< Extra is the pc of the interrupted code
    bool isFirst() const { return Call.Slot == pieces::NeverEnds; }
  };

  /// Follows the block up to Until. If that is before the end of the block,
  /// only at() may be asked, about moments up to Until.
  static llvm::Expected<std::unique_ptr<BlockCalls>>
  create(state::StateCache &States, const code::CodeTable &Code, BlockNumber N,
         Timestamp Until = Never);

  Timestamp until() const { return Until; }
  /// The pc of the thread at Until, if it is the one that runs then. Known
  /// without a replay.
  std::optional<uint64_t> pcAtEnd(uint32_t Thread) const {
    return Thread && Thread == LastThread ? std::optional(LastPc)
                                          : std::nullopt;
  }

  const Node &node(uint32_t Index) const { return Nodes[Index]; }
  uint32_t size() const { return uint32_t(Nodes.size()); }
  /// The innermost activation of the thread at T; None: the thread has none.
  uint32_t at(uint32_t Thread, Timestamp T) const;
  /// When the node was last the innermost one of its thread before T; the first
  /// moment may be before the block.
  std::optional<answers::TimeRange>
  stretchBefore(uint32_t Thread, uint32_t Node, Timestamp T) const;
  /// Whether the thread is in the block.
  bool has(uint32_t Thread) const { return Timelines.count(Thread); }
  /// The activation with this number in the file, if it is alive at the start
  /// or the end of the block; otherwise None. Also None if it is so far out on
  /// its stack that the block has nothing to do with it.
  uint32_t find(uint32_t Number) const;
  uint64_t bytes() const;

private:
  friend class BlockCallsBuilder;
  friend class StackLoader;
  struct Change {
    Timestamp Time;
    uint32_t Node;
  };
  Timestamp Until = Never;
  uint32_t LastThread = 0;
  uint64_t LastPc = 0;
  std::vector<Node> Nodes;
  llvm::DenseMap<uint32_t, std::vector<Change>> Timelines; ///< by thread
  llvm::DenseMap<uint32_t, uint32_t> ByNumber;
};

} // namespace chronicle::calls

#endif
