// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Finds the page chunks that may write some granules, by a tree over the table
/// of chunks.

#ifndef CHRONICLE_QUERY_STATE_CHUNKSUMMARIES_H
#define CHRONICLE_QUERY_STATE_CHUNKSUMMARIES_H

#include "trace-format/FileFormat.h"
#include "trace-format/TraceData.h"
#include <array>
#include <mutex>

namespace chronicle::state {

/// Whether two sets have a granule in common.
inline bool intersect(const uint64_t A[GranuleWords],
                      const uint64_t B[GranuleWords]) {
  uint64_t Both = 0;
  for (unsigned W = 0; W < GranuleWords; ++W)
    Both |= A[W] & B[W];
  return Both != 0;
}

/// Adds the granules of bytes First to Last of a page.
inline void addGranules(uint64_t Granules[GranuleWords], uint64_t First,
                        uint64_t Last) {
  for (uint64_t G = First / GranuleSize; G <= Last / GranuleSize; ++G)
    Granules[G / 64] |= uint64_t(1) << G % 64;
}

/// A search costs the logarithm of the number of chunks it covers, even if most
/// of them do not write the wanted granules. The tree is made by the first
/// search for which it pays, in one pass over all chunks, and takes about 4
/// bytes per chunk. A search in a small part of the chunks, such as those of
/// one frame, looks at the chunks themselves. May be used from several threads
/// at once.
class ChunkSummaries {
public:
  /// The chunks must be sorted by frame and time, as in the directory.
  explicit ChunkSummaries(llvm::ArrayRef<PageChunkEntry> Chunks)
      : Chunks(Chunks) {}

  /// The first of the chunks [First, End) that may write one of the granules,
  /// or End.
  size_t next(size_t First, size_t End,
              const uint64_t Granules[GranuleWords]) const;
  /// One past the last of the chunks [First, End) that may, or First.
  size_t previous(size_t First, size_t End,
                  const uint64_t Granules[GranuleWords]) const;

private:
  static constexpr unsigned Fanout = 16;
  /// A search in fewer chunks than this part of all needs no tree.
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
  /// Each entry is the union of 16 entries of the level below, or of 16 chunks
  /// in the lowest level. An entry may cover chunks of two frames; it then says
  /// that more is written than is.
  mutable std::vector<std::vector<Granules>> Levels;
};

} // namespace chronicle::state

#endif
