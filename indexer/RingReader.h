// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The indexer's end of the ring (trace-format/Stream.h).

#ifndef CHRONICLE_INDEXER_RINGREADER_H
#define CHRONICLE_INDEXER_RINGREADER_H

#include "trace-format/Stream.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <atomic>

namespace chronicle::indexer {

/// What a chunk holds.
struct RingChunk {
  llvm::ArrayRef<uint32_t> Run;
  llvm::ArrayRef<uint8_t> Events;
  llvm::ArrayRef<uint8_t> Stores;
  bool BlockEnd = false;
  bool Last = false;
  /// The recorder died while it filled this one.
  bool Unfinished = false;
};

/// Waits by futex, and wakes the recorder only if it waits and has room for
/// more than one chunk. Validates the counters and the sizes that a chunk
/// claims, but not its contents. The ring is mapped in the recorded program,
/// which may write to any part of it at any time: what is used to find memory
/// is read once, and the layout is that of the beginning.
class RingReader {
public:
  static llvm::Expected<RingReader> create(void *Memory, size_t Bytes);

  /// Waits up to Milliseconds for a chunk. Returns whether there is one to
  /// read.
  bool wait(unsigned Milliseconds);
  /// The chunk that wait() found.
  llvm::Expected<RingChunk> chunk() const;
  /// Gives that chunk back to the recorder.
  void release();
  /// After the recorder's death, when wait(0) finds nothing more: what it left
  /// in the chunk that it was filling. May be empty.
  RingChunk unfinished() const;

  void request(uint32_t Bits);
  uint32_t blockInstructions() const { return Layout.block_instructions; }

private:
  uint8_t *slot() const;
  /// Whether a chunk is published. Published: what the counter says.
  bool ready(uint32_t &Published) const;
  ch_ring_header *Header = nullptr; ///< for the counters
  ch_ring_header Layout = {};       ///< as it was at first
  uint8_t *Chunks = nullptr;
  uint32_t Consumed = 0;
};

} // namespace chronicle::indexer

#endif
