// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/state/ChunkSummaries.h"
#include <algorithm>

using namespace llvm;

namespace chronicle::state {

void ChunkSummaries::makeTree() const {
  std::call_once(Made, [this] {
    for (size_t Below = Chunks.size(); Below > Fanout;
         Below = Levels.back().size()) {
      const auto Level = static_cast<unsigned>(Levels.size());
      std::vector<Granules> Next((Below + Fanout - 1) / Fanout);
      for (size_t I = 0; I < Below; ++I)
        for (unsigned W = 0; W < GranuleWords; ++W)
          Next[I / Fanout][W] |= summary(Level, I)[W];
      Levels.push_back(std::move(Next));
    }
  });
}

size_t ChunkSummaries::next(size_t First, size_t End,
                            const uint64_t Wanted[GranuleWords]) const {
  if (isSmall(First, End)) {
    while (First < End && !intersect(Chunks[First].Granules, Wanted))
      ++First;
    return First;
  }
  makeTree();
  unsigned Level = 0;
  size_t Size = 1; // chunks that an entry of the level stands for
  while (First < End) {
    if (!intersect(summary(Level, First / Size), Wanted)) {
      First += Size;
      // Goes up as soon as a larger entry begins here.
      while (Level < Levels.size() && First % (Size * Fanout) == 0) {
        Size *= Fanout;
        ++Level;
      }
    } else if (Level == 0) {
      return First;
    } else {
      --Level;
      Size /= Fanout;
    }
  }
  return End;
}

size_t ChunkSummaries::previous(size_t First, size_t End,
                                const uint64_t Wanted[GranuleWords]) const {
  if (isSmall(First, End)) {
    while (End > First && !intersect(Chunks[End - 1].Granules, Wanted))
      --End;
    return End;
  }
  makeTree();
  unsigned Level = 0;
  size_t Size = 1;
  while (End > First) {
    if (!intersect(summary(Level, (End - 1) / Size), Wanted)) {
      End = std::max(First, (End - 1) / Size * Size);
      while (Level < Levels.size() && End % (Size * Fanout) == 0) {
        Size *= Fanout;
        ++Level;
      }
    } else if (Level == 0) {
      return End;
    } else {
      --Level;
      Size /= Fanout;
    }
  }
  return First;
}

} // namespace chronicle::state
