// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures the indexer's time per instruction on the stream of a real run that
// is ready in the ring. The decoding thread's own time must stay below the
// recorder's (docs/design.md: 2 ns). The time of all threads includes
// compression.

#include "RecordedRun.h"
#include "llvm/Support/FileSystem.h"
#include <benchmark/benchmark.h>

using namespace chronicle;
using namespace llvm;

static void index(benchmark::State &State) {
  const RecordedRun &Run = RecordedRun::get();
  SmallString<128> Path;
  if (sys::fs::createTemporaryFile("index-benchmark", "db", Path)) {
    State.SkipWithError("cannot make a temporary file");
    return;
  }
  uint64_t Instructions = 0;
  for (auto _ : State) {
    State.PauseTiming();
    auto Copy = std::make_unique<RingCopy>(Run.stream());
    State.ResumeTiming();
    Instructions += indexStream(*Copy, Path);
    State.PauseTiming();
    Copy.reset();
    State.ResumeTiming();
  }
  (void)sys::fs::remove(Path);
  State.SetItemsProcessed(Instructions);
}
BENCHMARK(index)->Name("index-decode-instruction");
BENCHMARK(index)->Name("index-all-instruction")->MeasureProcessCPUTime();
