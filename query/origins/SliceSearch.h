// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Follows a value backward, and the operands of what computed it.

#ifndef CHRONICLE_QUERY_ORIGINS_SLICESEARCH_H
#define CHRONICLE_QUERY_ORIGINS_SLICESEARCH_H

#include "query/answers/Slice.h"
#include "query/origins/SuperblockFlow.h"
#include "query/origins/WriterSearch.h"
#include <map>
#include <queue>

namespace chronicle::origins {

/// How far a slice goes.
struct SliceBounds {
  uint32_t Depth = ~0u;          ///< computations one after the other
  uint64_t Limit = ~uint64_t(0); ///< nodes
};

/// Finds the dynamic slice of one value. The values count, byte by byte, and
/// the conditions inside of an instruction; the addresses that they were read
/// from and the branches before do not. A node costs what WriterSearch::find()
/// costs.
class SliceSearch {
public:
  SliceSearch(WriterSearch Writers, SliceBounds Bounds)
      : Writers(std::move(Writers)), Bounds(Bounds) {}

  llvm::Expected<answers::Slice> follow(const answers::ValuePlace &Place,
                                        Timestamp At);

private:
  /// What an edge leads to: bytes whose writer is not known yet, or what a
  /// statement of an execution made.
  struct Way {
    Strand Bytes; ///< its Run is the execution of Made, too
    std::optional<FlowPiece> Made;
    std::optional<size_t> For; ///< the node; nothing: the question
    answers::SliceEdge::Kind What = answers::SliceEdge::Part;
    answers::ValuePlace Read;
    uint32_t Depth = 0;
    uint64_t Number = 0; ///< in order of discovery
    Timestamp time() const;
    bool operator<(const Way &Other) const;
  };
  /// Kind, time of the execution or event, statement, place, size: what makes
  /// two nodes the same.
  using Key = std::tuple<int, Timestamp, uint32_t, uint64_t, uint32_t>;

  void push(Way W);
  llvm::Error step(Way W);
  llvm::Error ended(const Way &W, const Writer &By);
  void written(const Way &W, uint32_t Statement);
  void made(const Way &W, const FlowPiece &P);
  /// The node of the key, and whether it is new.
  std::pair<size_t, bool> nodeFor(const Way &W, Key K);
  void addSources(size_t Node, const Way &W, const FlowSources &From,
                  answers::SliceEdge::Kind What, uint32_t Depth);

  WriterSearch Writers;
  const SliceBounds Bounds;
  std::priority_queue<Way> Ways;
  uint64_t Pushed = 0;
  std::map<Key, size_t> Known;
  /// By node, then by the roots: the number of the way that made each edge.
  std::vector<std::vector<uint64_t>> Numbers;
  std::vector<uint64_t> RootNumbers;
  answers::Slice Result;
};

} // namespace chronicle::origins

#endif
