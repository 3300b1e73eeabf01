// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/reads/ReadIndexMaker.h"

using namespace llvm;

namespace chronicle::reads {

namespace {
struct BlockSeen : passes::BlockObserver {
  std::vector<passes::FrameReads> Frames;
  void reads(std::vector<passes::FrameReads> &&Reads) override {
    Frames = std::move(Reads);
  }
};
} // namespace

passes::PassNeeds ReadIndexMaker::needs() const {
  passes::PassNeeds Needs;
  Needs.ReadGranules = true;
  return Needs;
}

std::unique_ptr<passes::BlockObserver> ReadIndexMaker::start(const Block &) {
  return std::make_unique<BlockSeen>();
}

Error ReadIndexMaker::deliver(BlockNumber N,
                              std::unique_ptr<passes::BlockObserver> Seen) {
  for (const passes::FrameReads &F :
       static_cast<const BlockSeen &>(*Seen).Frames) {
    Granules Read;
    std::copy(std::begin(F.Granules), std::end(F.Granules), Read.begin());
    Writer.add(N, F.Frame, Read);
  }
  Writer.advance(N + 1);
  if (N + 1 != End && N + 1 - Writer.first() < PartBlocks)
    return Error::success();
  SmallVector<uint8_t, 0> Part = Writer.finish();
  Writer = PartWriter(N + 1);
  return Take(std::move(Part));
}

} // namespace chronicle::reads
