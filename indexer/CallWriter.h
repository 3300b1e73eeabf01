// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Writes down, at the end of a block, the call stacks that the follower found.

#ifndef CHRONICLE_INDEXER_CALLWRITER_H
#define CHRONICLE_INDEXER_CALLWRITER_H

#include "indexer/DatabaseBuilder.h"
#include "trace-format/CallFollower.h"

namespace chronicle {

/// An activation is written once, at the first end of a block that it lives to
/// see; a block then names the innermost ones. Costs a few dozen instructions a
/// new activation and a stack of a thread that ran.
class CallWriter {
public:
  /// Gives the superblock of what the follower was told as one.
  using SuperblockOf = llvm::function_ref<uint32_t(uint32_t)>;
  /// The block's stacks section.
  ByteWriter endBlock(CallFollower &Calls, DatabaseBuilder &Database,
                      SuperblockOf Of);

private:
  uint32_t number(llvm::MutableArrayRef<CallStackRecord> Stacks,
                  CallStackRecord &Stack, DatabaseBuilder &Database,
                  SuperblockOf Of);
};

} // namespace chronicle

#endif
