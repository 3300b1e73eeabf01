// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/search/EventSearch.h"
#include "query/code/ExecutionWalk.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::search {

/// Adds the wanted events of a block to Found, in order.
static Error eventsOf(state::StateCache &States, const code::CodeTable &Code,
                      BlockNumber N, uint64_t Kinds, answers::TimeRange When,
                      std::vector<answers::TimedEvent> &Found) {
  Expected<std::shared_ptr<const Block>> B = States.block(N);
  if (!B)
    return B.takeError();
  code::ExecutionWalk Walk(Code, States.reader(), **B);
  auto Add = [&](const Event &E, Timestamp T) {
    if (E.Kind < 64 && (Kinds >> E.Kind & 1) && T >= When.First &&
        T <= When.Last)
      Found.push_back({T, N, E.Kind, E.Payload.vec()});
  };
  Walk.OnEvent = Add;
  code::ExecutionWalk::Item Item;
  while (true) {
    Expected<bool> More = Walk.next(Item);
    if (!More)
      return More.takeError();
    if (!*More || Item.Time > When.Last)
      return Error::success();
  }
}

Error findEvents(state::StateCache &States, const code::CodeTable &Code,
                 uint64_t Kinds, answers::TimeRange When, bool Backward,
                 function_ref<bool(const answers::TimedEvent &)> Visit,
                 const answers::Cancellation *Cancel) {
  ArrayRef<BlockEntry> Blocks = States.reader().blocks();
  // An event at the end of a block has the time of the next one's start.
  BlockNumber First =
      llvm::partition_point(
          Blocks, [&](const BlockEntry &B) { return B.First < When.First; }) -
      Blocks.begin();
  BlockNumber End =
      llvm::partition_point(
          Blocks, [&](const BlockEntry &B) { return B.First <= When.Last; }) -
      Blocks.begin();
  First = First ? First - 1 : 0;
  for (BlockNumber I = First; I < End; ++I) {
    BlockNumber N = Backward ? End - 1 - (I - First) : I;
    if (!(Blocks[N].Kinds & Kinds))
      continue;
    if (Cancel && Cancel->Cancelled)
      return Error::success();
    std::vector<answers::TimedEvent> Found;
    if (Error E = eventsOf(States, Code, N, Kinds, When, Found))
      return E;
    if (Backward)
      std::reverse(Found.begin(), Found.end());
    for (const answers::TimedEvent &E : Found)
      if (!Visit(E))
        return Error::success();
  }
  return Error::success();
}

} // namespace chronicle::search
