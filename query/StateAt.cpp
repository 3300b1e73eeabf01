// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/StateAt.h"
#include "query/Helpers.h"
#include "trace-format/BlockFormat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle {

uint64_t Registers::word(unsigned Offset) const {
  return loadValue<uint64_t>(State.data() + Offset);
}
uint64_t Registers::rip() const { return word(CH_OFFSET_RIP); }
uint64_t Registers::rsp() const { return word(CH_OFFSET_RSP); }

uint64_t Registers::flags() const {
  constexpr uint64_t AlwaysSet = 1 << 1, Interrupts = 1 << 9,
                     Direction = 1 << 10, Alignment = 1 << 18,
                     Identification = 1 << 21;
  uint64_t Flags = helpers::amd64g_calculate_rflags_all(
      word(CH_OFFSET_CC_OP), word(CH_OFFSET_CC_DEP1), word(CH_OFFSET_CC_DEP2),
      word(CH_OFFSET_CC_NDEP), 0);
  if (word(CH_OFFSET_DFLAG) != 1)
    Flags |= Direction;
  if (word(CH_OFFSET_ACFLAG) & 1)
    Flags |= Alignment;
  if (word(CH_OFFSET_IDFLAG) & 1)
    Flags |= Identification;
  return Flags | AlwaysSet | Interrupts;
}

ArrayRef<uint8_t> Registers::ymm(unsigned N) const {
  return ArrayRef<uint8_t>(State).slice(CH_OFFSET_YMM0 + 32 * N, 32);
}

static Registers registersFrom(const uint8_t *State) {
  Registers R;
  static_assert(sizeof(R.State) == CH_GUEST_STATE_SIZE);
  std::memcpy(R.State.data(), State, CH_GUEST_STATE_SIZE);
  return R;
}

Expected<uint32_t> threadAt(StateCache &Cache, Timestamp T) {
  Expected<StateCursor> Cursor = Cache.at(T);
  if (!Cursor)
    return Cursor.takeError();
  if (uint32_t Thread = Cursor->replayer().thread())
    return Thread;
  // Only at the end of the run can a block be without a running thread.
  for (BlockNumber N = Cursor->block().Number; N > 0; --N) {
    if (!(Cache.reader().blocks()[N - 1].Kinds & uint64_t(1) << CH_EV_SNAPSHOT))
      continue;
    Expected<StateCursor> Earlier = Cache.in(N - 1, ~Timestamp(0));
    if (!Earlier)
      return Earlier.takeError();
    if (uint32_t Thread = Earlier->replayer().thread())
      return Thread;
  }
  return createStringError("no thread ran: the trace has no instructions");
}

/// The thread's first snapshot in the block: the state in which it last
/// stopped.
static Expected<Registers> snapshotIn(StateCache &Cache, uint32_t Thread,
                                      BlockNumber N) {
  Expected<std::shared_ptr<const Block>> B = Cache.block(N);
  if (!B)
    return B.takeError();
  for (const Event &E : (*B)->Events)
    if (snapshotThread(E.Kind, E.Payload) == Thread &&
        E.Payload.size() >= sizeof(ch_ev_snapshot) + CH_GUEST_STATE_SIZE)
      return registersFrom(E.Payload.data() + sizeof(ch_ev_snapshot));
  return createStringError(
      formatv("block {0} should have a snapshot of thread {1}, but does not; "
              "'chronicle "
              "verify' says what else is wrong with the trace",
              N, Thread));
}

Expected<Registers> registersAt(StateCache &Cache, uint32_t Thread,
                                Timestamp T) {
  const ThreadInfo *Info = Cache.threads().find(Thread);
  if (!Info)
    return createStringError(formatv("there is no thread {0}; the run has {1}",
                                     Thread, Cache.threads().all().size()));
  // Where a thread ends, its last state is still worth something.
  if (T < Info->Started)
    return createStringError(formatv("thread {0} starts at {1}, after {2}",
                                     Thread, Info->Started, T));
  if (Info->Exited && T > *Info->Exited)
    return createStringError(formatv("thread {0} ended at {1}, before {2}",
                                     Thread, *Info->Exited, T));
  Expected<StateCursor> Cursor = Cache.at(T);
  if (!Cursor)
    return Cursor.takeError();
  if (const uint8_t *State = Cursor->replayer().state(Thread))
    return registersFrom(State);
  // It does not run in this block before T, so it is still as it was when it
  // last stopped, and as its next snapshot will say. That one needs no replay.
  const BlockNumber N = Cursor->block().Number;
  if (std::optional<BlockNumber> Next = Cache.threads().nextBlock(Thread, N))
    return snapshotIn(Cache, Thread, *Next);
  if (std::optional<BlockNumber> Previous =
          Cache.threads().previousBlock(Thread, N)) {
    Expected<StateCursor> Earlier = Cache.in(*Previous, ~Timestamp(0));
    if (!Earlier)
      return Earlier.takeError();
    if (const uint8_t *State = Earlier->replayer().state(Thread))
      return registersFrom(State);
  }
  return createStringError(
      formatv("nothing is known about thread {0} at {1}: the trace ends before "
              "it ran",
              Thread, T));
}

/// Bytes of a page, if block N leaves their granules alone: then they are the
/// same at every moment of the block, and nothing needs to be replayed. False:
/// it does not.
static Expected<bool> readUnchanged(const TraceReader &Reader,
                                    FrameNumber Frame, BlockNumber N,
                                    unsigned Offset,
                                    MutableArrayRef<uint8_t> Into) {
  ArrayRef<PageChunkEntry> Chunks = Reader.pageChunksOf(Frame);
  auto It = partition_point(
      Chunks, [&](const PageChunkEntry &E) { return E.Last < N; });
  if (It != Chunks.end() && It->First <= N) {
    uint64_t Wanted[GranuleWords] = {};
    addGranules(Wanted, Offset, Offset + Into.size() - 1);
    Expected<PageChunk> Chunk = Reader.readPageChunk(*It);
    if (!Chunk)
      return Chunk.takeError();
    if (any_of(Chunk->Deltas, [&](const PageDelta &D) {
          return D.Block == N &&
                 (D.Kind != GranulesDelta || intersect(D.Granules, Wanted));
        }))
      return false;
  }
  uint8_t Page[PageSize];
  if (Error E = Reader.readFrame(Frame, N, Page))
    return E;
  std::memcpy(Into.data(), Page + Offset, Into.size());
  return true;
}

namespace {
/// Memory at a moment, page by page: replays the block only for granules that
/// it writes.
class MemoryReader {
public:
  MemoryReader(StateCache &Cache, Timestamp T)
      : Cache(Cache), T(T), N(Cache.reader().blockAt(T)),
        // Where shared memory is may change within the block; and page chunks
        // may not say what a last block wrote.
        Replays(!Cache.maps().sharedStays().empty() ||
                Cache.reader().blocks()[N].Kinds & uint64_t(1)
                                                       << CH_EV_STORED) {}

  Error read(uint64_t Address, MutableArrayRef<uint8_t> Into) {
    while (!Into.empty()) {
      const uint64_t Offset = Address % PageSize;
      const size_t Part = std::min<uint64_t>(Into.size(), PageSize - Offset);
      if (Error E = readPart(Address, Into.take_front(Part)))
        return E;
      Address += Part;
      Into = Into.drop_front(Part);
    }
    return Error::success();
  }

private:
  Error readPart(uint64_t Address, MutableArrayRef<uint8_t> Into) {
    if (!Replays) {
      Expected<bool> Unchanged =
          readUnchanged(Cache.reader(), Address / PageSize, N,
                        static_cast<unsigned>(Address % PageSize), Into);
      if (!Unchanged)
        return Unchanged.takeError();
      if (*Unchanged)
        return Error::success();
      Replays = true;
    }
    if (!Cursor) {
      Expected<StateCursor> At = Cache.at(T);
      if (!At)
        return At.takeError();
      Cursor.emplace(std::move(*At));
    }
    return Cursor->read(Address, Into);
  }

  StateCache &Cache;
  const Timestamp T;
  const BlockNumber N;
  bool Replays; ///< from here on
  std::optional<StateCursor> Cursor;
};
} // namespace

Expected<MemoryContents> memoryAt(StateCache &Cache, uint64_t Address,
                                  uint64_t Length, Timestamp T) {
  constexpr uint64_t MostBytes = 1 << 30;
  if (Length > MostBytes)
    return createStringError(
        formatv("{0} bytes are too many at once: ask for at most {1}", Length,
                MostBytes));
  if (T > Cache.reader().instructions())
    return createStringError(
        formatv("the run ends at {0}; there is no instruction {1}",
                Cache.reader().instructions(), T));
  MemoryReader Memory(Cache, T);
  MemoryContents Result;
  Result.Bytes.resize(Length);
  if (Length == 0)
    return Result;
  const uint64_t Last = Address + std::min(Length - 1, ~Address);
  for (const MapHistory::Region &R : Cache.maps().at(T)) {
    if (R.Address > Last || R.end() <= Address)
      continue;
    const uint64_t From = std::max(R.Address, Address),
                   To = std::min(R.end() - 1, Last);
    const uint64_t Offset = From - Address, Size = To - From + 1;
    if (Error E = Memory.read(
            From, MutableArrayRef<uint8_t>(Result.Bytes).slice(Offset, Size)))
      return E;
    if (!Result.Mapped.empty() && Result.Mapped.back().second == Offset)
      Result.Mapped.back().second += Size;
    else
      Result.Mapped.emplace_back(Offset, Offset + Size);
  }
  return Result;
}

} // namespace chronicle
