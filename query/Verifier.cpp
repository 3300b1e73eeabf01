// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/Verifier.h"
#include "query/RangeVerifier.h"
#include "query/answers/RunEnd.h"
#include "trace-format/bytecode/SuperblockFacts.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>
#include <mutex>
#include <thread>
#include <tuple>

using namespace llvm;

namespace chronicle::query {

namespace {

/// What a range leaves for the comparison with the ranges after it.
struct RangeResult {
  std::map<uint32_t, std::pair<replay::GuestState, replay::Mismatch>>
      FirstSnapshots;
  std::map<uint32_t, ThreadEnd> Ends;
  bool SawEnd = false, LostTrack = false;
};

/// One run of verifyTrace(): workers verify ranges of blocks, then the states
/// of threads are compared where ranges meet.
class Verification {
public:
  Verification(const file::TraceReader &Trace, const VerifyOptions &Options)
      : Trace(Trace), Options(Options), Work(Trace, Options) {}
  VerifyReport run();

private:
  void splitBlocks();
  void verifyRanges();
  void add(size_t N, RangeVerifier &Range);
  void add(const MismatchList &Mismatches, ArrayRef<uint64_t> Counts);
  void compareAcrossRanges();
  void orderMismatches();
  std::string whyIncomplete() const;

  const file::TraceReader &Trace;
  const VerifyOptions &Options;
  SharedWork Work;
  VerifyReport Report;
  std::mutex Lock; ///< for what follows, and Report
  std::vector<RangeResult> Results;
  std::vector<uint64_t> ExitCounts;
};

} // namespace

/// Opaque bytes by reason, from how often each exit was taken. The memory that
/// a helper wrote is logged only if the helper was called, so the definitions
/// do not say how much it is: helpers get what remains.
static void attributeOpaque(const SharedWork &S, ArrayRef<uint64_t> ExitCounts,
                            VerifyReport &Report) {
  uint64_t Attributed = 0;
  for (uint32_t Id = 0; Id < S.Trace.superblockCount(); ++Id) {
    Definition D = S.Trace.definition(Id);
    const size_t End = Id + 1 < S.Trace.superblockCount()
                           ? S.Exits.firstExit(Id + 1)
                           : ExitCounts.size();
    if (D.Bytes.empty() ||
        all_of(ExitCounts.slice(D.FirstExit, End - D.FirstExit),
               [](uint64_t Count) { return Count == 0; }))
      continue;
    Expected<bytecode::SuperblockFacts> Facts =
        bytecode::analyzeSuperblock(D.Bytes);
    if (!Facts) {
      // Replay has reported it if it ran.
      consumeError(Facts.takeError());
      continue;
    }
    for (uint32_t Ordinal = 1; Ordinal <= Facts->Header.Exits + 1; ++Ordinal) {
      uint64_t Count = ExitCounts[D.FirstExit + Ordinal - 1];
      if (!Count)
        continue;
      for (const bytecode::SlotFact &F :
           ArrayRef(Facts->Slots).take_front(Facts->SlotFactsAt[Ordinal]))
        if (F.Reason != CH_REASON_HELPER &&
            (F.Kind == bytecode::SlotKind::Opaque ||
             F.Kind == bytecode::SlotKind::OpaqueRegisters)) {
          Report.OpaqueByReason[F.Reason] += Count * F.Bytes;
          Attributed += Count * F.Bytes;
        }
    }
  }
  if (Report.OpaqueBytes > Attributed)
    Report.OpaqueByReason[CH_REASON_HELPER] += Report.OpaqueBytes - Attributed;
}

/// Contiguous ranges of about the same number of instructions: several per
/// worker, for balance, but long enough that reading page images pays off.
void Verification::splitBlocks() {
  const uint64_t Count = Trace.blocks().size();
  const uint64_t Ranges =
      std::max<uint64_t>(1, std::min<uint64_t>(Report.Threads * 4, Count / 16));
  for (uint64_t I = 0; I < Ranges; ++I)
    Work.Ranges.emplace_back(Count * I / Ranges, Count * (I + 1) / Ranges);
}

/// What each worker does.
void Verification::verifyRanges() {
  MismatchList Mismatches{Options.MaxMismatches};
  std::vector<uint64_t> Counts(Work.Exits.size());
  for (size_t N; (N = Work.NextRange++) < Work.Ranges.size();) {
    auto Range = std::make_unique<RangeVerifier>(
        Work, Work.Ranges[N].first, Work.Ranges[N].second, Mismatches, Counts);
    Range->run();
    add(N, *Range);
  }
  add(Mismatches, Counts);
}

void Verification::add(size_t N, RangeVerifier &Range) {
  std::lock_guard<std::mutex> Guard(Lock);
  Results[N] = {std::move(Range.FirstSnapshots), std::move(Range.Ends),
                Range.SawEnd, Range.LostTrack};
  Report.Blocks += Range.Blocks;
  Report.InterpretedBlocks += Range.InterpretedBlocks;
  Report.Instructions += Range.Instructions;
  Report.Executions += Range.Executions;
  Report.OpaqueBytes += Range.Opaque;
  Report.ComparedSnapshots += Range.Snapshots;
  Report.ComparedGranules += Range.Granules;
  Report.AbsentFrames += Range.absentFrames();
  Report.MemoryResets += Range.Resets;
}

void Verification::add(const MismatchList &Mismatches,
                       ArrayRef<uint64_t> Counts) {
  std::lock_guard<std::mutex> Guard(Lock);
  Report.MismatchCount += Mismatches.Count;
  llvm::append_range(Report.Mismatches, Mismatches.Kept);
  for (size_t I = 0; I < Counts.size(); ++I)
    ExitCounts[I] += Counts[I];
}

/// Compares the first snapshot of a thread in a range with where an earlier
/// range left the thread.
void Verification::compareAcrossRanges() {
  std::map<uint32_t, ThreadEnd> Ends;
  for (RangeResult &R : Results) {
    for (auto &[Thread, First] : R.FirstSnapshots) {
      auto It = Ends.find(Thread);
      if (It == Ends.end())
        continue;
      ++Report.ComparedSnapshots;
      if (std::optional<replay::Mismatch> M = compareSnapshot(
              It->second, Thread, First.first.data(), First.second.Block)) {
        ++Report.MismatchCount;
        Report.Mismatches.push_back(*M);
      }
    }
    if (R.LostTrack)
      Ends.clear();
    for (auto &[Thread, E] : R.Ends)
      Ends[Thread] = E;
  }
}

void Verification::orderMismatches() {
  llvm::stable_sort(Report.Mismatches, [](const replay::Mismatch &A,
                                          const replay::Mismatch &B) {
    return std::tie(A.Block, A.Time) < std::tie(B.Block, B.Time);
  });
  if (Report.Mismatches.size() > Options.MaxMismatches)
    Report.Mismatches.resize(Options.MaxMismatches);
}

std::string Verification::whyIncomplete() const {
  if (!Trace.truncated().empty())
    return Trace.truncated().str();
  if (!Trace.end())
    return "the trace does not say how the run ended";
  using Kind = answers::RunEnd::Kind;
  const Kind How = answers::RunEnd::of(Trace.end()).How;
  if (How == Kind::StreamError)
    return "the recorder sent invalid data and was ended";
  const bool SawEnd =
      any_of(Results, [](const RangeResult &R) { return R.SawEnd; });
  if (!SawEnd && (How == Kind::Exit || How == Kind::Signal))
    return "its last events are missing";
  return "";
}

VerifyReport Verification::run() {
  auto Start = std::chrono::steady_clock::now();
  Report.Threads = Options.Threads
                       ? Options.Threads
                       : std::max(1u, std::thread::hardware_concurrency());
  splitBlocks();
  Report.Threads = std::min<size_t>(Report.Threads, Work.Ranges.size());
  Work.BytesPerWorker = Options.MemoryBytes / Report.Threads;
  Results.resize(Work.Ranges.size());
  ExitCounts.resize(Work.Exits.size());

  std::vector<std::thread> Workers;
  for (unsigned I = 1; I < Report.Threads; ++I)
    Workers.emplace_back([this] { verifyRanges(); });
  verifyRanges();
  for (std::thread &T : Workers)
    T.join();

  compareAcrossRanges();
  orderMismatches();
  attributeOpaque(Work, ExitCounts, Report);
  Report.Incomplete = whyIncomplete();
  Report.Seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - Start)
          .count();
  return std::move(Report);
}

VerifyReport verifyTrace(const file::TraceReader &Trace,
                         const VerifyOptions &Options) {
  return Verification(Trace, Options).run();
}

} // namespace chronicle::query
