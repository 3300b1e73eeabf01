// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Which page chunks may write which granules, as a tree over the table of
/// chunks.

#ifndef CHRONICLE_QUERY_CHUNKSUMMARIES_H
#define CHRONICLE_QUERY_CHUNKSUMMARIES_H

#include "trace-format/FileFormat.h"
#include "trace-format/TraceData.h"
#include <array>
#include <mutex>

namespace chronicle {

/// Whether any granule is in both.
inline bool intersect(const uint64_t A[GranuleWords],
                      const uint64_t B[GranuleWords]) {
  uint64_t Both = 0;
  for (unsigned W = 0; W < GranuleWords; ++W)
    Both |= A[W] & B[W];
  return Both != 0;
}

/// Adds those of bytes First to Last of a page.
inline void addGranules(uint64_t Granules[GranuleWords], uint64_t First,
                        uint64_t Last) {
  for (uint64_t G = First / GranuleSize; G <= Last / GranuleSize; ++G)
    Granules[G / 64] |= uint64_t(1) << G % 64;
}

/// A search costs the logarithm of the chunks it covers, however many of them
/// do not write the granules asked for. The tree is made by the first search
/// that pays for it, in one pass over all chunks, and takes about 4 bytes each;
/// searches in a small part of them, as those of one frame mostly are, look at
/// the chunks themselves. May be used from several threads at once.
class ChunkSummaries {
public:
  /// The chunks as in the directory, sorted by frame and time.
  explicit ChunkSummaries(llvm::ArrayRef<PageChunkEntry> Chunks)
      : Chunks(Chunks) {}

  /// The first of the chunks [First, End) that may write one of the granules,
  /// or End.
  size_t next(size_t First, size_t End,
              const uint64_t Granules[GranuleWords]) const;
  /// One past the last of them, or First.
  size_t previous(size_t First, size_t End,
                  const uint64_t Granules[GranuleWords]) const;

private:
  static constexpr unsigned Fanout = 16;
  /// A search in less than one part of so many needs no tree.
  static constexpr size_t SmallPart = 64;
  using Granules = std::array<uint64_t, GranuleWords>;
  const uint64_t *summary(unsigned Level, size_t Index) const {
    return Level ? Levels[Level - 1][Index].data() : Chunks[Index].Granules;
  }

  bool isSmall(size_t First, size_t End) const {
    return End - First < Chunks.size() / SmallPart;
  }
  void makeTree() const;

  llvm::ArrayRef<PageChunkEntry> Chunks;
  mutable std::once_flag Made;
  /// Each entry is the union of 16 of the level below; the lowest one of 16
  /// chunks. Those of two frames may share an entry, which then says too much.
  mutable std::vector<std::vector<Granules>> Levels;
};

} // namespace chronicle

#endif
