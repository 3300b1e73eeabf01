// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures the tables that searches use, on those of a real run: which
// superblocks ran in which blocks, activations and stacks, the directory.

#include "RecordedRun.h"
#include "trace-format/file/Directory.h"
#include "trace-format/pieces/CallFormat.h"
#include "trace-format/pieces/ExecutionFormat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"
#include <benchmark/benchmark.h>

using namespace chronicle;
using namespace llvm;

static ExitOnError Check("micro-benchmarks: ");

/// The superblocks of each block, once each and sorted.
static std::vector<std::vector<uint32_t>>
superblocksOf(const RecordedRun &Run) {
  std::vector<std::vector<uint32_t>> Result;
  for (const Block &B : Run.blocks()) {
    std::vector<uint32_t> &Ran = Result.emplace_back();
    for (uint32_t Exit : B.Symbols)
      Ran.push_back(Run.trace().superblockOfExit(Exit));
    llvm::sort(Ran);
    Ran.erase(llvm::unique(Ran), Ran.end());
  }
  return Result;
}

/// The executions piece of the blocks; adds the number of its entries to Count.
static ByteWriter encodeExecutions(ArrayRef<std::vector<uint32_t>> Superblocks,
                                   uint64_t &Count) {
  pieces::ExecutionsWriter Writer;
  for (BlockNumber N = 0; N < Superblocks.size(); ++N) {
    for (uint32_t Superblock : Superblocks[N])
      Writer.ran(Superblock, N);
    Count += Superblocks[N].size();
  }
  return Writer.take(Superblocks.size());
}

static void executionsEncode(benchmark::State &State) {
  const auto Superblocks = superblocksOf(RecordedRun::get());
  uint64_t Count = 0;
  for (auto _ : State)
    benchmark::DoNotOptimize(encodeExecutions(Superblocks, Count).data());
  State.SetItemsProcessed(Count);
}
BENCHMARK(executionsEncode)->Name("executions-encode-superblock");

/// Looks up each superblock by itself.
static void executionsFind(benchmark::State &State) {
  uint64_t Count = 0, Runs = 0;
  const ByteWriter Bytes =
      encodeExecutions(superblocksOf(RecordedRun::get()), Count);
  const pieces::ExecutionRange Range =
      Check(pieces::ExecutionRange::create(Bytes.data()));
  const uint32_t Superblocks = RecordedRun::get().trace().superblockCount();
  Count = 0;
  for (auto _ : State) {
    for (uint32_t Id = 1; Id < Superblocks; ++Id)
      Check(Range.visit(Id, [&](const pieces::ExecutionRun &) { ++Runs; }));
    Count += Superblocks - 1;
  }
  benchmark::DoNotOptimize(Runs);
  State.SetItemsProcessed(Count);
}
BENCHMARK(executionsFind)->Name("executions-find-superblock");

static ByteWriter
encodeActivations(ArrayRef<pieces::ActivationRecord> Records) {
  pieces::ActivationsWriter Writer;
  for (const pieces::ActivationRecord &R : Records)
    Writer.add(R.Parent, R.Call);
  return Writer.take();
}

static std::vector<pieces::ActivationRecord>
activationsOf(const file::TraceReader &Trace) {
  std::vector<pieces::ActivationRecord> Records;
  for (const ActivationPiece &Piece : Trace.activationPieces())
    append_range(Records, Check(Trace.readActivations(Piece)));
  return Records;
}

static void activationsEncode(benchmark::State &State) {
  const auto Records = activationsOf(RecordedRun::get().trace());
  for (auto _ : State)
    benchmark::DoNotOptimize(encodeActivations(Records).data());
  State.SetItemsProcessed(State.iterations() * Records.size());
}
BENCHMARK(activationsEncode)->Name("activations-encode-activation");

static void activationsDecode(benchmark::State &State) {
  const auto Records = activationsOf(RecordedRun::get().trace());
  const ByteWriter Bytes = encodeActivations(Records);
  for (auto _ : State)
    benchmark::DoNotOptimize(
        Check(pieces::decodeActivations(Bytes.data(), /*First=*/1)).data());
  State.SetItemsProcessed(State.iterations() * Records.size());
}
BENCHMARK(activationsDecode)->Name("activations-decode-activation");

using Stacks = std::vector<pieces::ThreadStacks>;

static std::vector<Stacks> stacksOf(const RecordedRun &Run) {
  std::vector<Stacks> Result;
  for (const Block &B : Run.blocks())
    Result.push_back(Check(Run.trace().readStacks(B.Number)));
  return Result;
}

static void encodeInto(ByteWriter &Out, const Stacks &OfBlock) {
  Out.clear();
  for (const pieces::ThreadStacks &T : OfBlock)
    pieces::encodeStacks(Out, T);
}

static void stacksEncode(benchmark::State &State) {
  const std::vector<Stacks> Blocks = stacksOf(RecordedRun::get());
  ByteWriter Out;
  for (auto _ : State)
    for (const Stacks &OfBlock : Blocks) {
      encodeInto(Out, OfBlock);
      benchmark::DoNotOptimize(Out.data().data());
    }
  State.SetItemsProcessed(State.iterations() * Blocks.size());
}
BENCHMARK(stacksEncode)->Name("stacks-encode-block");

static void stacksDecode(benchmark::State &State) {
  const std::vector<Stacks> Blocks = stacksOf(RecordedRun::get());
  std::vector<ByteWriter> Coded(Blocks.size());
  for (size_t I = 0; I < Blocks.size(); ++I)
    encodeInto(Coded[I], Blocks[I]);
  for (auto _ : State)
    for (const ByteWriter &Bytes : Coded)
      benchmark::DoNotOptimize(
          Check(pieces::decodeStacks(Bytes.data())).data());
  State.SetItemsProcessed(State.iterations() * Blocks.size());
}
BENCHMARK(stacksDecode)->Name("stacks-decode-block");

/// The index of a longer run: it has as many pieces as this one has blocks.
static file::Directory directory() {
  file::Directory D;
  for (const BlockEntry &E : RecordedRun::get().trace().blocks())
    D.Pieces.push_back({PieceType::Executions, E.Offset, D.Pieces.size()});
  return D;
}

static void directoryEncode(benchmark::State &State) {
  const file::Directory D = directory();
  for (auto _ : State) {
    ByteWriter Out;
    file::encodeDirectory(Out, D);
    benchmark::DoNotOptimize(Out.data());
  }
  State.SetItemsProcessed(State.iterations() * D.Pieces.size());
}
BENCHMARK(directoryEncode)->Name("directory-encode-entry");

/// Measures what opening a trace costs for each piece that is not a block or
/// pages.
static void directoryDecode(benchmark::State &State) {
  const file::Directory D = directory();
  ByteWriter Bytes;
  file::encodeDirectory(Bytes, D);
  for (auto _ : State)
    benchmark::DoNotOptimize(
        Check(file::decodeDirectory(Bytes.data())).Pieces.data());
  State.SetItemsProcessed(State.iterations() * D.Pieces.size());
}
BENCHMARK(directoryDecode)->Name("directory-decode-entry");
