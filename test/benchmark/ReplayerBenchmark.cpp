// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures replay per instruction, and making a superblock's program ready.

#include "RecordedRun.h"
#include "query/replay/BlockReplayer.h"
#include "query/replay/TracePages.h"
#include <benchmark/benchmark.h>

using namespace chronicle;
using namespace llvm;

static program::ProgramCache::DefinitionLookup
definitions(const file::TraceReader &Trace) {
  return [&Trace](uint32_t Id) { return Trace.definition(Id).Bytes; };
}

/// Replays all blocks with programs and pages at hand. What remains is the
/// interpreter, or the native code of hot superblocks.
static void replayBlocks(benchmark::State &State, bool Native) {
  const RecordedRun &Run = RecordedRun::get();
  const file::TraceReader &Trace = Run.trace();
  replay::ExitTable Exits(Trace);
  program::ProgramCache Programs(Trace.superblockCount(), definitions(Trace));
  replay::TracePages Pages(Trace);
  machine::ReplayMemory Memory(Pages, Run.blocks().front().Number);
  native::NativeCode Code(Trace.superblockCount());
  replay::BlockReplayer Replayer(Memory, Programs, Exits);
  Replayer.Native = Native ? &Code : nullptr;
  uint64_t Instructions = 0;
  for (auto _ : State) {
    State.PauseTiming();
    Memory.reset(Run.blocks().front().Number);
    replay::mapSharedObjects(Trace, Run.blocks().front().Number, Memory);
    State.ResumeTiming();
    for (const Block &B : Run.blocks()) {
      Replayer.start(B);
      if (!Replayer.runToEnd()) {
        State.SkipWithError("the run does not replay");
        return;
      }
      Instructions += B.Instructions;
      Memory.clearDirty();
    }
  }
  State.SetItemsProcessed(Instructions);
}
BENCHMARK_CAPTURE(replayBlocks, interpreted, false)->Name("replay-instruction");
BENCHMARK_CAPTURE(replayBlocks, native, true)
    ->Name("replay-native-instruction");

static void loadPrograms(benchmark::State &State) {
  const file::TraceReader &Trace = RecordedRun::get().trace();
  uint64_t Programs = 0;
  for (auto _ : State) {
    program::ProgramCache Cache(Trace.superblockCount(), definitions(Trace));
    for (uint32_t Id = 1; Id < Trace.superblockCount(); ++Id)
      if (Error E = Cache.get(Id, program::ProgramForm::Fast).takeError()) {
        State.SkipWithError(toString(std::move(E)).c_str());
        return;
      }
    Programs += Trace.superblockCount() - 1;
  }
  State.SetItemsProcessed(Programs);
}
BENCHMARK(loadPrograms)->Name("replay-load-superblock");
