// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What replay costs an instruction, and making a superblock's program ready.

#include "RecordedRun.h"
#include "query/BlockReplayer.h"
#include "query/TracePages.h"
#include <benchmark/benchmark.h>

using namespace chronicle;
using namespace llvm;

static ProgramCache::DefinitionLookup definitions(const TraceReader &Trace) {
  return [&Trace](uint32_t Id) { return Trace.definition(Id).Bytes; };
}

/// All blocks, one after the other, with programs and pages at hand: what
/// remains is the interpreter, or native code of what runs often.
static void replay(benchmark::State &State, bool Native) {
  const RecordedRun &Run = RecordedRun::get();
  const TraceReader &Trace = Run.trace();
  ExitTable Exits(Trace);
  ProgramCache Programs(Trace.superblockCount(), definitions(Trace));
  TracePages Pages(Trace);
  ReplayMemory Memory(Pages, Run.blocks().front().Number);
  NativeCode Code(Trace.superblockCount());
  BlockReplayer Replayer(Memory, Programs, Exits);
  Replayer.Native = Native ? &Code : nullptr;
  uint64_t Instructions = 0;
  for (auto _ : State) {
    State.PauseTiming();
    Memory.reset(Run.blocks().front().Number);
    mapSharedObjects(Trace, Run.blocks().front().Number, Memory);
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
BENCHMARK_CAPTURE(replay, interpreted, false)->Name("replay-instruction");
BENCHMARK_CAPTURE(replay, native, true)->Name("replay-native-instruction");

static void loadPrograms(benchmark::State &State) {
  const TraceReader &Trace = RecordedRun::get().trace();
  uint64_t Programs = 0;
  for (auto _ : State) {
    ProgramCache Cache(Trace.superblockCount(), definitions(Trace));
    for (uint32_t Id = 1; Id < Trace.superblockCount(); ++Id)
      if (Error E = Cache.get(Id, ProgramForm::Fast).takeError()) {
        State.SkipWithError(toString(std::move(E)).c_str());
        return;
      }
    Programs += Trace.superblockCount() - 1;
  }
  State.SetItemsProcessed(Programs);
}
BENCHMARK(loadPrograms)->Name("replay-load-superblock");
