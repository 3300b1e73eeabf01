// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/Verifier.h"
#include "query/TracePages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

using namespace llvm;

namespace chronicle {

namespace {

/// What all workers share.
struct Shared {
  const TraceReader &Trace;
  const VerifyOptions &Options;
  ExitTable Exits;
  ProgramCache Programs;
  NativeCode Native;
  std::vector<std::pair<BlockNumber, BlockNumber>> Ranges;
  uint64_t BytesPerWorker = 0;
  std::atomic<size_t> NextRange = 0;
  std::atomic<uint64_t> BlocksDone = 0, InstructionsDone = 0;

  Shared(const TraceReader &Trace, const VerifyOptions &Options)
      : Trace(Trace), Options(Options), Exits(Trace), Programs(Trace),
        Native(Trace.superblockCount()) {}
};

/// Mismatches of one worker, kept to the limit, counted beyond it.
struct MismatchList {
  uint64_t Limit;
  uint64_t Count = 0;
  std::vector<Mismatch> Kept;
  void add(const Mismatch &M) {
    if (Count++ < Limit)
      Kept.push_back(M);
  }
};

struct ThreadEnd {
  GuestState State;
  Mismatch Where; ///< block, time and superblock it stopped in
};

/// A range of blocks, replayed by one worker with one memory.
class RangeVerifier {
public:
  RangeVerifier(Shared &S, BlockNumber First, BlockNumber End,
                MismatchList &Mismatches, std::vector<uint64_t> &ExitCounts)
      : S(S), First(First), End(End), Mismatches(Mismatches),
        ExitCounts(ExitCounts), Pages(S.Trace), Memory(Pages, First),
        Deltas(S.Trace), Replayer(Memory, S.Programs, S.Exits) {}

  void run();

  uint64_t Executions = 0, Opaque = 0, Snapshots = 0, Granules = 0;
  uint64_t Blocks = 0, Instructions = 0, InterpretedBlocks = 0, Resets = 0;
  bool SawEnd = false;
  /// Of threads that this range does not know how they got here.
  std::map<uint32_t, std::pair<GuestState, Mismatch>> FirstSnapshots;
  std::map<uint32_t, ThreadEnd> Ends;
  bool LostTrack = false; ///< what was known before this range is of no use
  uint64_t absentFrames() const { return Memory.absentFrames(); }

private:
  void verify(const Block &B);
  void compareFrames(const Block &B);
  void compareFrame(const Block &B, const ReplayFrame &Frame);
  void findMissingWrites(const Block &B);
  void report(const Block &B, const Twine &What);
  void snapshot(uint32_t Thread, const uint8_t *State);
  void startAfresh(BlockNumber N);
  bool keepsTooMuch() const;

  Shared &S;
  BlockNumber First, End;
  MismatchList &Mismatches;
  std::vector<uint64_t> &ExitCounts;
  TracePages Pages;
  ReplayMemory Memory;
  DeltaCursor Deltas;
  BlockReplayer Replayer;
  uint64_t WrittenPages = 0, WrittenGranules = 0;
  const Block *Current = nullptr;
};

} // namespace

static unsigned granulesOf(const ReplayFrame &Frame,
                           uint64_t (&Granules)[GranuleWords]) {
  Frame.dirtyGranules(Granules);
  unsigned Count = 0;
  for (uint64_t Word : Granules)
    Count += popcount(Word);
  return Count;
}

static Mismatch placeOf(const Block &B, const BlockReplayer &R) {
  Mismatch M;
  M.Block = B.Number;
  M.Time = R.time();
  M.Thread = R.thread();
  return M;
}

void RangeVerifier::report(const Block &B, const Twine &What) {
  Mismatch M = placeOf(B, Replayer);
  M.What = What.str();
  Mismatches.add(M);
}

static std::string frameName(FrameNumber Frame) {
  if (Frame < SharedFrames)
    return formatv("{0:x}", Frame * PageSize);
  FrameNumber N = Frame - SharedFrames;
  return formatv("page {0} of shared object {1}",
                 N & ((FrameNumber(1) << SharedObjectShift) - 1),
                 N >> SharedObjectShift);
}

static std::string granuleName(FrameNumber Frame, unsigned Granule) {
  if (Frame < SharedFrames)
    return formatv("{0:x}", Frame * PageSize + Granule * GranuleSize);
  return formatv("{0}, byte {1}", frameName(Frame), Granule * GranuleSize);
}

void RangeVerifier::compareFrame(const Block &B, const ReplayFrame &Frame) {
  uint64_t Written[GranuleWords];
  unsigned Count = granulesOf(Frame, Written);
  if (Count) {
    ++WrittenPages;
    WrittenGranules += Count;
  }
  if (!Count && !Frame.Zeroed)
    return;
  Expected<DeltaCursor::Change> Recorded =
      Deltas.change(Frame.Number, B.Number);
  if (!Recorded)
    return report(B, toString(Recorded.takeError()));

  bool BecameZero = false;
  const PageDelta *GranuleDelta = nullptr, *Image = nullptr;
  for (const PageDelta &D : Recorded->Deltas) {
    if (D.Kind == 1)
      BecameZero = true;
    else if (D.Kind == 0)
      GranuleDelta = &D;
    else
      Image = &D;
  }
  if (BecameZero && !Frame.Zeroed)
    report(B, "the page at " + Twine(frameName(Frame.Number)) +
                  " became zero in the recorded run, not in replay");

  auto Compare = [&](unsigned Granule, const uint8_t *Bytes) {
    ++Granules;
    const uint8_t *Mine = Frame.Bytes + Granule * GranuleSize;
    if (std::memcmp(Mine, Bytes, GranuleSize) == 0)
      return true;
    report(B, formatv("memory at {0} is {1:x}, recorded {2:x}",
                      granuleName(Frame.Number, Granule),
                      loadValue<uint64_t>(Mine), loadValue<uint64_t>(Bytes)));
    return false;
  };
  if (Image || Frame.Zeroed) {
    uint8_t Page[PageSize];
    if (Error E = S.Trace.readFrame(Frame.Number, B.Number + 1, Page))
      return report(B, toString(std::move(E)));
    for (unsigned G = 0; G < GranulesPerPage; ++G)
      if (!Compare(G, Page + G * GranuleSize))
        return;
    if (Image)
      return;
  }
  // Of most pages few granules were written: 64 at a time.
  for (unsigned W = 0; W < GranuleWords; ++W) {
    const uint64_t Theirs = GranuleDelta ? GranuleDelta->Granules[W] : 0;
    if (const uint64_t Different = Theirs ^ Written[W]) {
      const unsigned Bit = countr_zero(Different);
      return report(B, "memory at " +
                           Twine(granuleName(Frame.Number, W * 64 + Bit)) +
                           (Written[W] >> Bit & 1
                                ? " is written by replay, not by the recorded "
                                  "run"
                                : " was written by the recorded run, not by "
                                  "replay"));
    }
    for (uint64_t Left = Theirs; Left; Left &= Left - 1) {
      const unsigned G = W * 64 + countr_zero(Left);
      if (!Compare(G, Recorded->After + G * GranuleSize))
        return;
    }
  }
}

/// Only when the counts say that there are some: looks through all chunks.
void RangeVerifier::findMissingWrites(const Block &B) {
  DenseMap<FrameNumber, bool> Mine;
  for (const ReplayFrame *Frame : Memory.dirtyFrames())
    Mine[Frame->Number] = true;
  unsigned Reported = 0;
  for (const PageChunkEntry &E : S.Trace.pageChunks()) {
    if (E.First > B.Number || E.Last < B.Number || Mine.count(E.Frame))
      continue;
    Expected<DeltaCursor::Change> Recorded = Deltas.change(E.Frame, B.Number);
    if (!Recorded) {
      report(B, toString(Recorded.takeError()));
      continue;
    }
    for (const PageDelta &D : Recorded->Deltas) {
      if (D.Kind == 1)
        continue;
      unsigned G = 0;
      while (D.Kind == 0 && !(D.Granules[G / 64] >> G % 64 & 1))
        ++G;
      report(B, "memory at " + Twine(granuleName(E.Frame, G)) +
                    " was written by the recorded run, not by replay");
      if (++Reported == 4)
        return;
    }
  }
}

void RangeVerifier::compareFrames(const Block &B) {
  WrittenPages = WrittenGranules = 0;
  for (const ReplayFrame *Frame : Memory.dirtyFrames())
    compareFrame(B, *Frame);
  if (WrittenPages == B.DirtyPages && WrittenGranules == B.DirtyGranules)
    return;
  report(B,
         formatv("replay wrote {0} granules of {1} pages, the recorded run "
                 "{2} of {3}",
                 WrittenGranules, WrittenPages, B.DirtyGranules, B.DirtyPages));
  findMissingWrites(B);
}

void RangeVerifier::snapshot(uint32_t Thread, const uint8_t *State) {
  GuestState Copy;
  std::memcpy(Copy.data(), State, Copy.size());
  auto It = Ends.find(Thread);
  if (It == Ends.end()) {
    FirstSnapshots.try_emplace(Thread, Copy, placeOf(*Current, Replayer));
    return;
  }
  ++Snapshots;
  std::string Difference = describeDifference(It->second.State.data(), State);
  if (Difference.empty())
    return;
  Mismatch M = It->second.Where;
  M.What = formatv("thread {0}: {1} (snapshot in block {2})", Thread,
                   Difference, Current->Number);
  Mismatches.add(M);
}

void RangeVerifier::verify(const Block &B) {
  Current = &B;
  const bool Interpreted =
      !S.Options.Native || B.Number % VerifyOptions::InterpretedShare == 0;
  Replayer.Native = Interpreted ? nullptr : &S.Native;
  InterpretedBlocks += Interpreted;
  Replayer.start(B);
  const bool OnPath = Replayer.runToEnd();
  Executions += B.Symbols.size();
  Opaque += B.Opaque.size();
  for (uint32_t Symbol : B.Symbols)
    if (Symbol < ExitCounts.size())
      ++ExitCounts[Symbol];
  bool Told = true;
  for (const Event &E : B.Events) {
    SawEnd |= E.Kind == CH_EV_END;
    Told &= E.Kind != CH_EV_STORED;
  }
  if (OnPath) {
    if (Replayer.time() != B.First + B.Instructions)
      report(B, formatv("replay ran {0} instructions, the recorded run {1}",
                        Replayer.time() - B.First, B.Instructions));
    if (Replayer.opaqueLeft())
      report(B, formatv("{0} of {1} opaque bytes were not used",
                        Replayer.opaqueLeft(), B.Opaque.size()));
    if (Told)
      compareFrames(B);
  }
  if (!OnPath) {
    LostTrack = true;
    Ends.clear();
  }
  for (uint32_t Thread :
       OnPath ? Replayer.threads() : std::vector<uint32_t>()) {
    ThreadEnd &E = Ends[Thread];
    std::memcpy(E.State.data(), Replayer.state(Thread), E.State.size());
    E.Where = placeOf(B, Replayer);
    E.Where.Thread = Thread;
    if (!B.Symbols.empty() && B.Symbols.back() < S.Exits.size())
      E.Where.Superblock = S.Exits.superblock(B.Symbols.back());
  }
  Memory.clearDirty();
  if (Error E = Memory.takeError())
    report(B, toString(std::move(E)));
}

/// After something was wrong: memory from the trace, so that the next blocks
/// are judged by themselves.
void RangeVerifier::startAfresh(BlockNumber N) {
  Memory.reset(N);
  mapSharedObjects(S.Trace, N, Memory);
}

bool RangeVerifier::keepsTooMuch() const {
  return Memory.bytes() + Deltas.bytes() > S.BytesPerWorker;
}

void RangeVerifier::run() {
  Replayer.OnMismatch = [this](const Mismatch &M) { Mismatches.add(M); };
  Replayer.OnSnapshot = [this](uint32_t Thread, const uint8_t *State) {
    snapshot(Thread, State);
  };
  startAfresh(First);
  for (BlockNumber N = First; N < End; ++N) {
    Expected<Block> B = S.Trace.readBlock(N);
    if (!B) {
      Mismatch M;
      M.Block = N;
      M.Time = S.Trace.blocks()[N].First;
      M.What = toString(B.takeError());
      Mismatches.add(M);
      LostTrack = true;
      Ends.clear();
      startAfresh(N + 1);
      continue;
    }
    const uint64_t Before = Mismatches.Count;
    verify(*B);
    if (Mismatches.Count != Before) {
      startAfresh(N + 1);
    } else if (keepsTooMuch()) {
      // All of it was compared, so the trace's pages are as good as ours.
      startAfresh(N + 1);
      Deltas.clear();
      ++Resets;
    }
    ++Blocks;
    Instructions += B->Instructions;
    uint64_t Done = ++S.BlocksDone;
    uint64_t Ran = S.InstructionsDone += B->Instructions;
    if (S.Options.Progress)
      S.Options.Progress(Done, Ran);
  }
}

/// Opaque bytes by reason, from how often each exit was taken. Memory a helper
/// wrote is there only if the helper was called, so helpers get what remains.
static void attributeOpaque(const Shared &S, ArrayRef<uint64_t> ExitCounts,
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
    Expected<SuperblockFacts> Facts = analyzeSuperblock(D.Bytes);
    if (!Facts) {
      // Replay has reported it if it ran.
      consumeError(Facts.takeError());
      continue;
    }
    for (uint32_t Ordinal = 1; Ordinal <= Facts->Header.Exits + 1; ++Ordinal) {
      uint64_t Count = ExitCounts[D.FirstExit + Ordinal - 1];
      if (!Count)
        continue;
      for (const SlotFact &F :
           ArrayRef(Facts->Slots).take_front(Facts->SlotFactsAt[Ordinal]))
        if (F.Reason != CH_REASON_HELPER &&
            (F.Kind == SlotKind::Opaque ||
             F.Kind == SlotKind::OpaqueRegisters)) {
          Report.OpaqueByReason[F.Reason] += Count * F.Bytes;
          Attributed += Count * F.Bytes;
        }
    }
  }
  if (Report.OpaqueBytes > Attributed)
    Report.OpaqueByReason[CH_REASON_HELPER] += Report.OpaqueBytes - Attributed;
}

/// Contiguous ranges of about the same number of instructions: several a
/// worker, for balance, but long enough that page images pay.
static void splitBlocks(Shared &S, unsigned Threads) {
  const uint64_t Count = S.Trace.blocks().size();
  const uint64_t Ranges =
      std::max<uint64_t>(1, std::min<uint64_t>(Threads * 4, Count / 16));
  for (uint64_t I = 0; I < Ranges; ++I)
    S.Ranges.push_back({Count * I / Ranges, Count * (I + 1) / Ranges});
}

VerifyReport verifyTrace(const TraceReader &Trace,
                         const VerifyOptions &Options) {
  auto Start = std::chrono::steady_clock::now();
  VerifyReport Report;
  Report.Threads = Options.Threads
                       ? Options.Threads
                       : std::max(1u, std::thread::hardware_concurrency());
  Shared S(Trace, Options);
  splitBlocks(S, Report.Threads);
  Report.Threads = std::min<size_t>(Report.Threads, S.Ranges.size());
  S.BytesPerWorker = Options.MemoryBytes / Report.Threads;

  // What a range leaves for the comparison across range ends.
  struct RangeResult {
    std::map<uint32_t, std::pair<GuestState, Mismatch>> FirstSnapshots;
    std::map<uint32_t, ThreadEnd> Ends;
    bool SawEnd = false, LostTrack = false;
  };
  std::vector<RangeResult> Results(S.Ranges.size());
  std::vector<uint64_t> ExitCounts(S.Exits.size());
  std::mutex Mutex;
  auto Work = [&] {
    MismatchList Mismatches{Options.MaxMismatches};
    std::vector<uint64_t> Counts(S.Exits.size());
    for (size_t N; (N = S.NextRange++) < S.Ranges.size();) {
      auto Range = std::make_unique<RangeVerifier>(
          S, S.Ranges[N].first, S.Ranges[N].second, Mismatches, Counts);
      Range->run();
      std::lock_guard<std::mutex> Lock(Mutex);
      Results[N] = {std::move(Range->FirstSnapshots), std::move(Range->Ends),
                    Range->SawEnd, Range->LostTrack};
      Report.Blocks += Range->Blocks;
      Report.InterpretedBlocks += Range->InterpretedBlocks;
      Report.Instructions += Range->Instructions;
      Report.Executions += Range->Executions;
      Report.OpaqueBytes += Range->Opaque;
      Report.ComparedSnapshots += Range->Snapshots;
      Report.ComparedGranules += Range->Granules;
      Report.AbsentFrames += Range->absentFrames();
      Report.MemoryResets += Range->Resets;
    }
    std::lock_guard<std::mutex> Lock(Mutex);
    Report.MismatchCount += Mismatches.Count;
    llvm::append_range(Report.Mismatches, Mismatches.Kept);
    for (size_t I = 0; I < Counts.size(); ++I)
      ExitCounts[I] += Counts[I];
  };
  std::vector<std::thread> Workers;
  for (unsigned I = 1; I < Report.Threads; ++I)
    Workers.emplace_back(Work);
  Work();
  for (std::thread &T : Workers)
    T.join();

  std::map<uint32_t, ThreadEnd> Ends;
  bool SawEnd = false;
  for (RangeResult &R : Results) {
    SawEnd |= R.SawEnd;
    for (auto &[Thread, First] : R.FirstSnapshots) {
      auto It = Ends.find(Thread);
      if (It == Ends.end())
        continue;
      ++Report.ComparedSnapshots;
      std::string Difference =
          describeDifference(It->second.State.data(), First.first.data());
      if (Difference.empty())
        continue;
      ++Report.MismatchCount;
      Mismatch M = It->second.Where;
      M.What = formatv("thread {0}: {1} (snapshot in block {2})", Thread,
                       Difference, First.second.Block);
      Report.Mismatches.push_back(M);
    }
    if (R.LostTrack)
      Ends.clear();
    for (auto &[Thread, E] : R.Ends)
      Ends[Thread] = E;
  }
  llvm::stable_sort(
      Report.Mismatches, [](const Mismatch &A, const Mismatch &B) {
        return std::tie(A.Block, A.Time) < std::tie(B.Block, B.Time);
      });
  if (Report.Mismatches.size() > Options.MaxMismatches)
    Report.Mismatches.resize(Options.MaxMismatches);

  attributeOpaque(S, ExitCounts, Report);
  if (!Trace.truncated().empty())
    Report.Incomplete = Trace.truncated().str();
  else if (!Trace.end())
    Report.Incomplete = "the trace does not say how the run ended";
  else if (StringRef Reason = Trace.end()->getString("reason").value_or("");
           Reason == "stream-error")
    Report.Incomplete = "the recorder sent something wrong and was ended";
  else if (!SawEnd && (Reason == "exit" || Reason == "signal"))
    Report.Incomplete = "its last events are missing";
  Report.Seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - Start)
          .count();
  return Report;
}

} // namespace chronicle
