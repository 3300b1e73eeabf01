// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/RangeVerifier.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::query {

static unsigned granulesOf(const machine::ReplayFrame &Frame,
                           uint64_t (&Granules)[GranuleWords]) {
  Frame.dirtyGranules(Granules);
  unsigned Count = 0;
  for (uint64_t Word : Granules)
    Count += popcount(Word);
  return Count;
}

static replay::Mismatch placeOf(const Block &B,
                                const replay::BlockReplayer &R) {
  replay::Mismatch M;
  M.Block = B.Number;
  M.Time = R.time();
  M.Thread = R.thread();
  return M;
}

std::optional<replay::Mismatch> compareSnapshot(const ThreadEnd &End,
                                                uint32_t Thread,
                                                const uint8_t *State,
                                                BlockNumber SnapshotBlock) {
  std::string Difference = replay::describeDifference(End.State.data(), State);
  if (Difference.empty())
    return std::nullopt;
  replay::Mismatch M = End.Where;
  M.What = formatv("thread {0}: {1} (snapshot in block {2})", Thread,
                   Difference, SnapshotBlock);
  return M;
}

void RangeVerifier::report(const Block &B, const Twine &What) {
  replay::Mismatch M = placeOf(B, Replayer);
  M.What = What.str();
  Mismatches.add(M);
}

static std::string frameName(FrameNumber Frame) {
  if (Frame < SharedFrames)
    return formatv("{0:x}", Frame * PageSize);
  return formatv("page {0} of shared object {1}", sharedPageOf(Frame),
                 sharedObjectOf(Frame));
}

static std::string granuleName(FrameNumber Frame, unsigned Granule) {
  if (Frame < SharedFrames)
    return formatv("{0:x}", Frame * PageSize + Granule * GranuleSize);
  return formatv("{0}, byte {1}", frameName(Frame), Granule * GranuleSize);
}

void RangeVerifier::compareFrame(const Block &B,
                                 const machine::ReplayFrame &Frame) {
  uint64_t Written[GranuleWords];
  unsigned Count = granulesOf(Frame, Written);
  if (Count) {
    ++WrittenPages;
    WrittenGranules += Count;
  }
  if (!Count && !Frame.Zeroed)
    return;
  Expected<replay::DeltaCursor::Change> Recorded =
      Deltas.change(Frame.Number, B.Number);
  if (!Recorded)
    return report(B, toString(Recorded.takeError()));

  bool BecameZero = false;
  const PageDelta *GranuleDelta = nullptr, *Image = nullptr;
  for (const PageDelta &D : Recorded->Deltas) {
    if (D.Kind == ZeroDelta)
      BecameZero = true;
    else if (D.Kind == GranulesDelta)
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
                      operations::loadValue<uint64_t>(Mine),
                      operations::loadValue<uint64_t>(Bytes)));
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
  // Few granules are written in most pages: looks at 64 at a time.
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

/// Looks through all page chunks, so it is called only if the counts show that
/// writes are missing.
void RangeVerifier::findMissingWrites(const Block &B) {
  DenseMap<FrameNumber, bool> Mine;
  for (const machine::ReplayFrame *Frame : Memory.dirtyFrames())
    Mine[Frame->Number] = true;
  unsigned Reported = 0;
  for (const PageChunkEntry &E : S.Trace.pageChunks()) {
    if (E.First > B.Number || E.Last < B.Number || Mine.count(E.Frame))
      continue;
    Expected<replay::DeltaCursor::Change> Recorded =
        Deltas.change(E.Frame, B.Number);
    if (!Recorded) {
      report(B, toString(Recorded.takeError()));
      continue;
    }
    for (const PageDelta &D : Recorded->Deltas) {
      if (D.Kind == ZeroDelta)
        continue;
      unsigned G = 0;
      while (D.Kind == GranulesDelta && !(D.Granules[G / 64] >> G % 64 & 1))
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
  for (const machine::ReplayFrame *Frame : Memory.dirtyFrames())
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
  replay::GuestState Copy;
  std::memcpy(Copy.data(), State, Copy.size());
  auto It = Ends.find(Thread);
  if (It == Ends.end()) {
    FirstSnapshots.try_emplace(Thread, Copy, placeOf(*Current, Replayer));
    return;
  }
  ++Snapshots;
  if (std::optional<replay::Mismatch> M =
          compareSnapshot(It->second, Thread, State, Current->Number))
    Mismatches.add(*M);
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
  bool StoresLogged = true;
  for (const Event &E : B.Events) {
    SawEnd |= E.Kind == CH_EV_END;
    StoresLogged &= E.Kind != CH_EV_STORED;
  }
  if (OnPath) {
    if (Replayer.time() != B.First + B.Instructions)
      report(B, formatv("replay ran {0} instructions, the recorded run {1}",
                        Replayer.time() - B.First, B.Instructions));
    if (Replayer.opaqueLeft())
      report(B, formatv("{0} of {1} opaque bytes were not used",
                        Replayer.opaqueLeft(), B.Opaque.size()));
    if (StoresLogged)
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

/// Takes memory from the trace again. After a mismatch, the next blocks are
/// then judged by themselves.
void RangeVerifier::startAfresh(BlockNumber N) {
  Memory.reset(N);
  replay::mapSharedObjects(S.Trace, N, Memory);
}

bool RangeVerifier::keepsTooMuch() const {
  return Memory.bytes() + Deltas.bytes() > S.BytesPerWorker;
}

void RangeVerifier::run() {
  Replayer.OnMismatch = [this](const replay::Mismatch &M) {
    Mismatches.add(M);
  };
  Replayer.OnSnapshot = [this](uint32_t Thread, const uint8_t *State) {
    snapshot(Thread, State);
  };
  startAfresh(First);
  for (BlockNumber N = First; N < End; ++N) {
    Expected<Block> B = S.Trace.readBlock(N);
    if (!B) {
      replay::Mismatch M;
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
      // All of it was compared, so the pages of the trace are as good as these.
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

} // namespace chronicle::query
