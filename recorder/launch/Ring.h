// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The shared memory between recorder and indexer, laid out and mapped.

#ifndef CHRONICLE_RECORDER_LAUNCH_RING_H
#define CHRONICLE_RECORDER_LAUNCH_RING_H

#include "trace-format/Stream.h"
#include "llvm/Support/Error.h"
#include <cstddef>

namespace chronicle {

constexpr uint32_t DefaultBlockInstructions = 100000;
constexpr uint32_t MinBlockInstructions = 1000;
constexpr uint32_t MaxBlockInstructions = 10000000;

/// How many chunks a ring for such blocks has: enough for the recorder to go on
/// while the scheduler has something else for the indexer's processor (a few
/// milliseconds, a block takes a fifth of one), but no more than a gigabyte or
/// eight chunks. Of a chunk, blocks mostly touch a fiftieth.
uint32_t defaultRingChunks(uint32_t BlockInstructions);
/// Fills in the sizes for blocks of so many instructions.
ch_ring_header ringLayout(uint32_t BlockInstructions, uint32_t Chunks);
size_t ringBytes(const ch_ring_header &Layout);

/// Owns the memfd and this process's mapping of it. Costs what is touched:
/// about 5 MiB a chunk at the default block length.
class Ring {
public:
  static llvm::Expected<Ring> create(uint32_t BlockInstructions,
                                     uint32_t Chunks);
  ~Ring();
  Ring(Ring &&Other);
  Ring &operator=(Ring &&) = delete;

  int descriptor() const { return Descriptor; } ///< close-on-exec
  void *memory() const { return Memory; }
  size_t size() const { return Size; }

  /// Whether the recorder ever wrote anything: a chunk, or words in the first.
  /// Only meaningful before the indexer gives the first chunk back, or when
  /// chunks were published.
  bool used() const;

private:
  Ring() = default;
  int Descriptor = -1;
  void *Memory = nullptr;
  size_t Size = 0;
};

} // namespace chronicle

#endif
