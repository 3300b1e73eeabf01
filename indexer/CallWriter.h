// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Writes, at the end of a block, the call stacks that the follower found.

#ifndef CHRONICLE_INDEXER_CALLWRITER_H
#define CHRONICLE_INDEXER_CALLWRITER_H

#include "indexer/DatabaseBuilder.h"
#include "indexer/model/CallFollower.h"

namespace chronicle::indexer {

/// An activation is written once, at the end of the first block that it
/// outlives; a block then names only the innermost ones. Costs a few dozen
/// instructions per new activation, and as many per stack of a thread that ran.
class CallWriter {
public:
  /// Returns the superblock for the number that the follower was given as one.
  using SuperblockOf = llvm::function_ref<uint32_t(uint32_t)>;
  /// Returns the block's stacks section.
  ByteWriter endBlock(model::CallFollower &Calls, DatabaseBuilder &Database,
                      SuperblockOf Of);
};

} // namespace chronicle::indexer

#endif
