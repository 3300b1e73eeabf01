// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/search/WriteMaker.h"

using namespace llvm;

namespace chronicle::search {

WriteMaker::WriteMaker(state::StateCache &Cache, state::StateCursor At,
                       answers::AddressRange Range, ArrayRef<Hit> All)
    : Cursor(std::move(At)), Watch(Cursor.memory(), Range),
      Events(Cache, Cursor, Watch, Found), Stores(Cache, Cursor, Watch, Found),
      Hits(All) {
  Cursor.replayer().OnEvent = [this](const Event &E, Timestamp T) {
    if (!done() && Hits[Next].Outside == &E) {
      Events.event(E, T);
      ++Next;
    }
    Watch.event(E);
  };
}

Expected<std::vector<answers::Write>> WriteMaker::next() {
  const size_t Mine = Next;
  const Hit &H = Hits[Mine];
  // Otherwise the cursor already stopped inside the superblock, for a write
  // from outside.
  if (Cursor.time() <= H.Time)
    if (Error E = Cursor.runTo(H.Time))
      return E;
  if (!H.Outside) {
    ++Next;
    Cursor.replayer().Observer = &Stores;
    // Only the exact program can stop inside.
    if (Cursor.time() == H.Time)
      if (Error E = Cursor.runTo(H.Time + 1))
        return E;
    if (Error E = Cursor.finishSuperblock())
      return E;
    Cursor.replayer().Observer = nullptr;
  }
  assert(Next > Mine && "a second replay of the block took another path");
  Next = std::max(Next, Mine + 1);
  if (Error E = Events.takeError())
    return E;
  return std::exchange(Found, {});
}

} // namespace chronicle::search
