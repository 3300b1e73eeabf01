// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Goes from an activation to the ones around it.

#ifndef CHRONICLE_QUERY_CALLS_STACKWALK_H
#define CHRONICLE_QUERY_CALLS_STACKWALK_H

#include "query/calls/BlockCalls.h"

namespace chronicle::calls {

/// Each step costs a few lookups. Activations that the block does not know,
/// because they are far out on a deep stack, come from the file.
class StackWalk {
public:
  StackWalk(state::StateCache &States, std::shared_ptr<const BlockCalls> Calls,
            uint32_t Node)
      : States(States), Calls(std::move(Calls)), At(Node) {}

  /// Where it is; null: the outermost activation was passed. Valid until the
  /// next step.
  const BlockCalls::Node *node() const {
    return At != BlockCalls::None ? &Calls->node(At)
                                  : (InFile ? &Stored : nullptr);
  }
  /// Goes to the activation around it.
  llvm::Error outward();

private:
  state::StateCache &States;
  std::shared_ptr<const BlockCalls> Calls;
  uint32_t At;
  bool InFile = false;     ///< it is at Stored
  BlockCalls::Node Stored; ///< Outer is its parent; Extra the top of its stack
};

} // namespace chronicle::calls

#endif
