// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The pass that makes an index of reads.

#ifndef CHRONICLE_QUERY_READS_READINDEXMAKER_H
#define CHRONICLE_QUERY_READS_READINDEXMAKER_H

#include "query/passes/Pass.h"
#include "query/reads/ReadIndexFormat.h"

namespace chronicle::reads {

/// Makes the parts of an index, one after the other, and hands them on.
class ReadIndexMaker : public passes::Pass {
public:
  using TakePart = std::function<llvm::Error(llvm::SmallVector<uint8_t, 0>)>;
  ReadIndexMaker(BlockNumber First, BlockNumber End, TakePart Take)
      : End(End), Take(std::move(Take)), Writer(First) {}

  passes::PassNeeds needs() const override;
  std::unique_ptr<passes::BlockObserver> start(const Block &) override;
  llvm::Error deliver(BlockNumber N,
                      std::unique_ptr<passes::BlockObserver> Seen) override;

private:
  /// A part has 100 million instructions, which take a second or two.
  static constexpr BlockNumber PartBlocks = 1024;
  const BlockNumber End;
  const TakePart Take;
  PartWriter Writer;
};

} // namespace chronicle::reads

#endif
