// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The calls of one block: which activations there were, from when to when, and
/// in which one each thread was at any moment.

#ifndef CHRONICLE_QUERY_BLOCKCALLS_H
#define CHRONICLE_QUERY_BLOCKCALLS_H

#include "query/CodeTable.h"
#include "query/StateCache.h"
#include "trace-format/CallFollower.h"

namespace chronicle {

/// Making it replays the block, as far as the stack pointer is set to something
/// that only replay knows. Afterwards everything is looked up. Takes 72 bytes
/// an activation that the block saw, and 16 a call and a return.
class BlockCalls {
public:
  static constexpr uint32_t None = ~uint32_t(0);
  static constexpr Timestamp Never = ~Timestamp(0);

  struct Node {
    CallRecord Call; ///< Node: its number in the file, or 0
    uint32_t Parent = None;
    uint32_t Thread = 0;
    Timestamp End = Never; ///< not in this block
    /// First of a stack: the highest stack pointer seen. Signal handler: where
    /// the interrupted code was, if it was entered in this block.
    uint64_t Extra = 0;
    bool Created = false; ///< by this block, not found at its start
    bool Hidden = false;  ///< only holds a signal stack together
    bool isFirst() const { return Call.Slot == NeverEnds; }
  };

  /// Follows the block up to the moment Until: then only at() is meant to be
  /// asked, about moments up to then.
  static llvm::Expected<std::unique_ptr<BlockCalls>>
  create(StateCache &States, const CodeTable &Code, BlockNumber N,
         Timestamp Until = Never);

  Timestamp until() const { return Until; }
  /// Where the thread that runs at Until is then, if it is this one: known
  /// without a replay.
  std::optional<uint64_t> pcAtEnd(uint32_t Thread) const {
    return Thread && Thread == LastThread ? std::optional(LastPc)
                                          : std::nullopt;
  }

  const Node &node(uint32_t Index) const { return Nodes[Index]; }
  uint32_t size() const { return uint32_t(Nodes.size()); }
  /// The innermost activation of the thread at T; None: not there.
  uint32_t at(uint32_t Thread, Timestamp T) const;
  /// When the node was last the innermost one of its thread before T; the first
  /// moment may be before the block.
  std::optional<TimeRange> stretchBefore(uint32_t Thread, uint32_t Node,
                                         Timestamp T) const;
  /// The thread is in the block.
  bool has(uint32_t Thread) const { return Timelines.count(Thread); }
  /// The one with this number in the file, alive at the start or the end of the
  /// block; None: not seen.
  uint32_t find(uint32_t Number) const;
  uint64_t bytes() const;

private:
  friend class BlockCallsBuilder;
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

/// The stacks that a thread had at the end of its last block before N, or null
/// if it had none.
llvm::Expected<const ThreadStacks *>
stacksBefore(StateCache &States, uint32_t Thread, BlockNumber N,
             std::shared_ptr<const std::vector<ThreadStacks>> &Holder);

} // namespace chronicle

#endif
