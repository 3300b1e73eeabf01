// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A real run for the micro-benchmarks: the recorder's stream, and the trace
/// that the indexer made of it.

#ifndef CHRONICLE_TEST_BENCHMARK_RECORDEDRUN_H
#define CHRONICLE_TEST_BENCHMARK_RECORDEDRUN_H

#include "recorder/launch/SharedRing.h"
#include "trace-format/file/TraceReader.h"
#include <memory>
#include <vector>

namespace chronicle {

/// A copy of the ring as the recorder left it, which an indexer may consume.
/// Copying takes as long as indexing, so it must be left out of the timing.
class RingCopy {
public:
  explicit RingCopy(const launch::SharedRing &Original);
  ~RingCopy();
  RingCopy(const RingCopy &) = delete;
  RingCopy &operator=(const RingCopy &) = delete;
  void *memory() const { return Memory; }
  size_t size() const { return Size; }

private:
  void *Memory;
  size_t Size;
};

/// About ten million instructions of the workload `map`, recorded when first
/// asked for. Ends the process with a message if that fails.
class RecordedRun {
public:
  static const RecordedRun &get();

  const file::TraceReader &trace() const { return *Trace; }
  /// All blocks but the first, which only holds the memory at the start.
  const std::vector<Block> &blocks() const { return Blocks; }
  const launch::SharedRing &stream() const { return Stream; }

private:
  RecordedRun();
  launch::SharedRing Stream;
  std::unique_ptr<file::TraceReader> Trace;
  std::vector<Block> Blocks;
};

/// Indexes a stream to a finished file; returns the number of instructions.
uint64_t indexStream(const RingCopy &Stream, llvm::StringRef Path);

} // namespace chronicle

#endif
