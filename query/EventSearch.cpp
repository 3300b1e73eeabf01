// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/EventSearch.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle {

/// The events of a block that are asked for, in order.
static Error eventsOf(StateCache &States, const CodeTable &Code, BlockNumber N,
                      uint64_t Kinds, TimeRange When,
                      std::vector<TimedEvent> &Found) {
  Expected<std::shared_ptr<const Block>> B = States.block(N);
  if (!B)
    return B.takeError();
  ExecutionWalk Walk(Code, States.reader(), **B);
  auto Add = [&](const Event &E, Timestamp T) {
    if (E.Kind < 64 && (Kinds >> E.Kind & 1) && T >= When.First &&
        T <= When.Last)
      Found.push_back({T, N, E.Kind, E.Payload.vec()});
  };
  Walk.OnEvent = Add;
  ExecutionWalk::Item Item;
  while (true) {
    Expected<bool> More = Walk.next(Item);
    if (!More)
      return More.takeError();
    if (!*More || Item.Time > When.Last)
      return Error::success();
  }
}

Error findEvents(StateCache &States, const CodeTable &Code, uint64_t Kinds,
                 TimeRange When, bool Backward,
                 function_ref<bool(const TimedEvent &)> Visit,
                 const Cancellation *Cancel) {
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
    std::vector<TimedEvent> Found;
    if (Error E = eventsOf(States, Code, N, Kinds, When, Found))
      return E;
    if (Backward)
      std::reverse(Found.begin(), Found.end());
    for (const TimedEvent &E : Found)
      if (!Visit(E))
        return Error::success();
  }
  return Error::success();
}

} // namespace chronicle
