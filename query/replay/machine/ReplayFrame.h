// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A page of a replay's memory.

#ifndef CHRONICLE_QUERY_REPLAY_MACHINE_REPLAYFRAME_H
#define CHRONICLE_QUERY_REPLAY_MACHINE_REPLAYFRAME_H

#include "query/replay/operations/ValueTypes.h"
#include "trace-format/FileFormat.h"
#include "trace-format/Stream.h"
#include "trace-format/TraceData.h"
#include <cstddef>

namespace chronicle::machine {

/// A page, and which of its granules were written since the last clearDirty()
/// and read since the last clearReads(). The flags follow the bytes, so that
/// one pointer reaches all of them.
struct ReplayFrame {
  alignas(64) uint8_t Bytes[CH_PAGE_SIZE];
  uint8_t Dirty[GranulesPerPage];
  uint8_t Read[GranulesPerPage]; ///< undefined unless the memory marks reads
  FrameNumber Number;
  bool Listed = false;     ///< is in the list of written frames
  bool ReadListed = false; ///< is in the list of read frames
  bool Zeroed = false; ///< became zero as a whole since the last clearDirty()

  /// Dirty, as one bit per granule.
  void dirtyGranules(uint64_t (&Words)[GranuleWords]) const {
    pack(Dirty, Words);
  }
  /// The same for Read.
  void readGranules(uint64_t (&Words)[GranuleWords]) const {
    pack(Read, Words);
  }

private:
  static void pack(const uint8_t *Flags, uint64_t (&Words)[GranuleWords]) {
    for (unsigned W = 0; W < GranuleWords; ++W) {
      Words[W] = 0;
      // Eight flags of 0 or 1 at once: the product's top byte is their bits.
      for (unsigned I = 0; I < 8; ++I)
        Words[W] |= operations::loadValue<uint64_t>(Flags + W * 64 + I * 8) *
                        0x0102040810204080 >>
                    56 << I * 8;
    }
  }
};
static_assert(offsetof(ReplayFrame, Dirty) == CH_PAGE_SIZE);

} // namespace chronicle::machine

#endif
