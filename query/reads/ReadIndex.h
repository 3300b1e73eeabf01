// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The index of reads: which blocks read which granules.

#ifndef CHRONICLE_QUERY_READS_READINDEX_H
#define CHRONICLE_QUERY_READS_READINDEX_H

#include "query/answers/IndexProgress.h"
#include "query/reads/ReadIndexFormat.h"
#include "query/search/BlockCandidates.h"

namespace llvm {
class MemoryBuffer;
}

namespace chronicle::reads {

/// Made by a pass over the whole trace the first time that it is needed, and
/// kept beside the trace from then on (IndexHome.h). Opening one that is kept
/// reads and checks all of it. Thread-safe once it is made.
class ReadIndex {
public:
  /// Opens or makes the index. Null: it was cancelled; what is made already is
  /// kept, and the next call goes on from there.
  static llvm::Expected<std::unique_ptr<ReadIndex>>
  open(const file::TraceReader &Trace, const answers::IndexProgress &Progress);
  ~ReadIndex();

  /// Sorted by frame, then first block.
  llvm::ArrayRef<PageChunkEntry> chunks() const { return Chunks; }
  search::ChunkSource source() const;
  /// Its size.
  uint64_t bytes() const { return Bytes; }
  /// The file that it is in; empty if it is only in memory.
  llvm::StringRef path() const { return Path; }

private:
  friend class IndexOpening;
  ReadIndex();
  struct Stored {
    BlockNumber End;
    llvm::ArrayRef<uint8_t> Bytes;
  };
  std::vector<Stored> Parts;
  std::vector<llvm::SmallVector<uint8_t, 0>> Made; ///< parts in memory
  std::unique_ptr<llvm::MemoryBuffer> File;        ///< parts in a file
  std::vector<PageChunkEntry> Chunks;
  std::unique_ptr<state::ChunkSummaries> Summaries;
  uint64_t Bytes = 0;
  std::string Path;
};

} // namespace chronicle::reads

#endif
