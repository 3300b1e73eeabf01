// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// All that a value was computed from.

#ifndef CHRONICLE_QUERY_ANSWERS_SLICE_H
#define CHRONICLE_QUERY_ANSWERS_SLICE_H

#include "query/answers/Origin.h"

namespace chronicle::answers {

/// From a node of a slice, or from the question, to an older node.
struct SliceEdge {
  enum Kind {
    Part,      ///< the bytes were copied from there
    Operand,   ///< they were computed from there
    Condition, ///< that chose them, as the flags of a conditional move
  };
  size_t Node = 0; ///< in Slice::Nodes
  Kind What = Part;
  /// What was read; of size 0 if a later instruction used the result without
  /// reading it from a place.
  ValuePlace Read;
};

/// A write that the value went through, or what made a part of it.
struct SliceNode {
  OriginStep Step; ///< Next and PartOffset are not used
  std::vector<SliceEdge> From;
  uint32_t Depth = 0; ///< computations between the question and this one
  /// Its operands were not followed: Depth is that of the question's bound.
  bool Cut = false;
};

/// The dynamic slice of a value: a graph without cycles, in which each node is
/// older than those that lead to it. Nodes are ordered by depth, then newest
/// first.
struct Slice {
  std::vector<SliceNode> Nodes;
  std::vector<SliceEdge> Roots;
  bool Complete = true; ///< false: a bound was reached, or it was cancelled
};

} // namespace chronicle::answers

#endif
