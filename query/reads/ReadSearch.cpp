// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/reads/ReadSearch.h"
#include "query/reads/BlockReads.h"

using namespace llvm;

namespace chronicle::reads {

Error findReads(state::StateCache &Cache, const ReadIndex &Index,
                answers::AddressRange Range, answers::TimeRange When,
                bool Backward, function_ref<bool(const answers::Read &)> Visit,
                const answers::Cancellation *Cancel) {
  const file::TraceReader &Reader = Cache.reader();
  if (Range.First > Range.Last)
    return createStringError("the range of memory ends before it starts");
  if (!Reader.instructions())
    return Error::success();
  // No instruction runs at the end of the run.
  When.Last = std::min(When.Last, Reader.instructions() - 1);
  if (When.First > When.Last)
    return Error::success();

  const search::WatchedFrames Watched(Index.chunks(), Cache.maps(), Range);
  search::BlockCandidates Candidates(Index.source(), Watched,
                                     Reader.blockAt(When.First),
                                     Reader.blockAt(When.Last), Backward);
  return Candidates.visit(
      [&](BlockNumber N) {
        return BlockReads(Cache, Range, When, N, Backward, Visit, Cancel)
            .visit();
      },
      Cancel);
}

} // namespace chronicle::reads
