// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The shared memory between recorder and indexer. trace-format/Stream.h
/// describes its layout.

#ifndef CHRONICLE_RECORDER_LAUNCH_SHAREDRING_H
#define CHRONICLE_RECORDER_LAUNCH_SHAREDRING_H

#include "trace-format/Translations.h"
#include "llvm/Support/Error.h"
#include <cstddef>

namespace chronicle::launch {

constexpr uint32_t DefaultBlockInstructions = 100000;
constexpr uint32_t MinBlockInstructions = 1000;
constexpr uint32_t MaxBlockInstructions = 10000000;

/// How many chunks a ring has for blocks of this length. There are enough for
/// the recorder to go on for a few milliseconds while the indexer is not
/// scheduled (a block takes a fifth of a millisecond). They take at most one
/// gigabyte of address space, but there are at least eight. Most blocks touch
/// about a fiftieth of their chunk.
uint32_t defaultRingChunks(uint32_t BlockInstructions);
/// The header of an empty ring, with the sizes for blocks of this length.
ch_ring_header ringLayout(uint32_t BlockInstructions, uint32_t Chunks);
size_t ringBytes(const ch_ring_header &Layout);

/// Owns the memfd and this process's mapping of it. Only memory that is touched
/// is allocated; a chunk has about 5 MiB at the default block length.
class SharedRing {
public:
  static llvm::Expected<SharedRing> create(uint32_t BlockInstructions,
                                           uint32_t Chunks);
  ~SharedRing();
  SharedRing(SharedRing &&Other);
  SharedRing &operator=(SharedRing &&) = delete;

  int descriptor() const { return Descriptor; } ///< close-on-exec
  /// Once the recorder has the descriptor, the mapping is enough.
  void closeDescriptor();
  void *memory() const { return Memory; }
  size_t size() const { return Size; }

  /// Whether the recorder has written anything: a chunk was published, or the
  /// first one has run words. Valid only until the indexer gives the first
  /// chunk back, or once a chunk was published.
  bool used() const;

  /// What the recorder has reported about the translation cache so far.
  const ch_translation_report &translations() const {
    return *reinterpret_cast<const ch_translation_report *>(
        static_cast<const char *>(Memory) + CH_TRANSLATION_REPORT_OFFSET);
  }

private:
  SharedRing() = default;
  int Descriptor = -1;
  void *Memory = nullptr;
  size_t Size = 0;
};

} // namespace chronicle::launch

#endif
