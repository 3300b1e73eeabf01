// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/search/WriteSearch.h"
#include "query/search/BlockCandidates.h"
#include "query/search/BlockWrites.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::search {

Error findWrites(state::StateCache &Cache, answers::AddressRange Range,
                 answers::TimeRange When, bool Backward,
                 function_ref<bool(const answers::Write &)> Visit,
                 const answers::Cancellation *Cancel) {
  const file::TraceReader &Reader = Cache.reader();
  if (Range.First > Range.Last)
    return createStringError("the range of memory ends before it starts");
  When.Last = std::min(When.Last, Reader.instructions());
  if (When.First > When.Last)
    return Error::success();
  // Events at the end of a block have the time of the next one's start.
  ArrayRef<BlockEntry> Blocks = Reader.blocks();
  auto FirstBlock = partition_point(
      Blocks, [&](const BlockEntry &B) { return B.First < When.First; });
  BlockNumber First = FirstBlock - Blocks.begin();
  First = First ? First - 1 : 0;
  const BlockNumber Last = Reader.blockAt(When.Last);

  const WatchedFrames Watched(Reader.pageChunks(), Cache.maps(), Range);
  std::vector<BlockNumber> Others = Watched.moves().vec();
  // The page chunks may not say what the last block wrote: then it may be
  // anything.
  const BlockNumber End = Reader.blocks().size() - 1;
  if ((Reader.blocks()[End].Kinds & uint64_t(1) << CH_EV_STORED) &&
      (Others.empty() || Others.back() != End))
    Others.push_back(End);
  BlockCandidates Candidates(writtenChunks(Reader, Cache.chunkSummaries()),
                             Watched, First, Last, Backward, Others);
  return Candidates.visit(
      [&](BlockNumber N) {
        return BlockWrites(Cache, Watched, Range, When, N, Backward, Visit,
                           Cancel)
            .visit();
      },
      Cancel);
}

} // namespace chronicle::search
