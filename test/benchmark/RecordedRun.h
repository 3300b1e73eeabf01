// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A real run for the micro-benchmarks: the stream that the recorder made of
/// it, and the trace that the indexer made of that.

#ifndef CHRONICLE_TEST_BENCHMARK_RECORDEDRUN_H
#define CHRONICLE_TEST_BENCHMARK_RECORDEDRUN_H

#include "recorder/launch/Ring.h"
#include "trace-format/TraceReader.h"
#include <memory>
#include <vector>

namespace chronicle {

/// The ring as the recorder left it, in pages of its own, so that an indexer
/// may consume it. Copying costs as much as indexing: leave it out of the
/// timing.
class RingCopy {
public:
  explicit RingCopy(const Ring &Original);
  ~RingCopy();
  RingCopy(const RingCopy &) = delete;
  RingCopy &operator=(const RingCopy &) = delete;
  void *memory() const { return Memory; }
  size_t size() const { return Size; }

private:
  void *Memory;
  size_t Size;
};

/// Recorded once, by the first who asks; about ten million instructions of the
/// workload `map`. Ends the process with a message if that fails.
class RecordedRun {
public:
  static const RecordedRun &get();

  const TraceReader &trace() const { return *Trace; }
  /// All blocks but the first, which only holds the memory at the start.
  const std::vector<Block> &blocks() const { return Blocks; }
  const Ring &stream() const { return Stream; }

private:
  RecordedRun();
  Ring Stream;
  std::unique_ptr<TraceReader> Trace;
  std::vector<Block> Blocks;
};

/// Takes a stream to a finished file; returns the instructions.
uint64_t indexStream(const RingCopy &Stream, llvm::StringRef Path);

} // namespace chronicle

#endif
