// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/search/HitFinder.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::search {

HitFinder::HitFinder(state::StateCursor &Cursor, answers::AddressRange Range)
    : Cursor(Cursor), Watch(Cursor.memory(), Range) {
  Cursor.replayer().Observer = this;
  Cursor.replayer().OnEvent = [this](const Event &E, Timestamp T) {
    if (Watch.isTouchedBy(E)) {
      const replay::BlockReplayer &Replayer = this->Cursor.replayer();
      const size_t Index = &E - this->Cursor.block().Events.data();
      Hits.push_back(
          {&E, T, Replayer.executions(), Replayer.canSave() ? Index : NoEvent});
    }
    Watch.event(E);
  };
}

void HitFinder::store(uint32_t, uint64_t Address, uint32_t Size,
                      const uint8_t *, const uint8_t *) {
  if (!Watch.overlaps(Address, Size))
    return;
  const replay::BlockReplayer &Replayer = Cursor.replayer();
  const uint64_t Execution = Replayer.executions();
  // Hits of the same execution may be writes from outside.
  for (const Hit &H : reverse(Hits)) {
    if (H.Execution != Execution)
      break;
    if (!H.Outside)
      return;
  }
  Hits.push_back({nullptr, Replayer.superblockStart(), Execution, NoEvent});
}

} // namespace chronicle::search
