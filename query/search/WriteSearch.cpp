// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/search/WriteSearch.h"
#include "query/search/BlockWrites.h"
#include "query/search/WriteCandidates.h"
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

  const WatchedFrames Watched(Reader, Cache.maps(), Range);
  WriteCandidates Candidates(Reader, Cache.chunkSummaries(), Watched, First,
                             Last, Backward);
  while (true) {
    if (Cancel && Cancel->Cancelled)
      return Error::success();
    Expected<std::optional<BlockNumber>> N = Candidates.next();
    if (!N)
      return N.takeError();
    if (!*N)
      return Error::success();
    Expected<bool> More =
        BlockWrites(Cache, Watched, Range, When, **N, Backward, Visit, Cancel)
            .visit();
    if (!More)
      return More.takeError();
    if (!*More)
      return Error::success();
  }
}

} // namespace chronicle::search
