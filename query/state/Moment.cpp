// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/state/Moment.h"
#include "query/replay/operations/Helpers.h"
#include "trace-format/events/Events.h"
#include "trace-format/pieces/BlockFormat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::state {

static answers::Registers registersFrom(const uint8_t *State) {
  answers::Registers R;
  static_assert(sizeof(R.State) == CH_GUEST_STATE_SIZE);
  std::memcpy(R.State.data(), State, CH_GUEST_STATE_SIZE);
  return R;
}

Expected<uint32_t> Moment::thread() const {
  Expected<StateCursor> Cursor = Cache.at(T);
  if (!Cursor)
    return Cursor.takeError();
  if (T == Cache.reader().instructions() && Cache.threads().killed())
    return Cache.threads().killed();
  if (uint32_t Thread = Cursor->replayer().thread())
    return Thread;
  // Only a block at the end of the run can be without a running thread.
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

/// The thread's first snapshot in the block, which is the state in which it
/// last stopped.
static Expected<answers::Registers> snapshotIn(StateCache &Cache,
                                               uint32_t Thread, BlockNumber N) {
  Expected<std::shared_ptr<const Block>> B = Cache.block(N);
  if (!B)
    return B.takeError();
  for (const Event &E : (*B)->Events)
    if (auto S = E.as<events::SnapshotEvent>(); S && S->thread == Thread)
      return registersFrom(S->state());
  return createStringError(
      formatv("block {0} should have a snapshot of thread {1}, but does not; "
              "'chronicle verify' says what else is wrong with the trace",
              N, Thread));
}

Expected<answers::Registers> Moment::registers(uint32_t Thread) const {
  const answers::ThreadInfo *Info = Cache.threads().find(Thread);
  if (!Info)
    return createStringError(formatv("there is no thread {0}; the run has {1}",
                                     Thread, Cache.threads().all().size()));
  // At the moment when a thread ends, its last state is still known.
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
  // It does not run in this block before T, so its state is that of its next
  // snapshot, which needs no replay.
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

/// Reads bytes of a page if block N does not write their granules: then they
/// are the same at every moment of the block, and nothing needs to be replayed.
/// False: it does write them.
static Expected<bool> readUnchanged(const file::TraceReader &Reader,
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
/// Reads memory at a moment, page by page. Replays the block only for granules
/// that it writes.
class MemoryReader {
public:
  MemoryReader(StateCache &Cache, Timestamp T)
      : Cache(Cache), T(T), N(Cache.reader().blockAt(T)),
        // Mappings of shared memory may change within the block, and page
        // chunks may not say what the last block wrote.
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
  bool Replays; ///< whether the next bytes come from a replay
  std::optional<StateCursor> Cursor;
};
} // namespace

Expected<answers::MemoryContents> Moment::memory(uint64_t Address,
                                                 uint64_t Length) const {
  constexpr uint64_t MostBytes = 1 << 30;
  if (Length > MostBytes)
    return createStringError(formatv(
        "cannot read {0} bytes at once: the limit is {1}", Length, MostBytes));
  if (T > Cache.reader().instructions())
    return createStringError(
        formatv("the run ends at {0}; there is no instruction {1}",
                Cache.reader().instructions(), T));
  MemoryReader Memory(Cache, T);
  answers::MemoryContents Result;
  Result.Bytes.resize(Length);
  if (Length == 0)
    return Result;
  const uint64_t Last = Address + std::min(Length - 1, ~Address);
  std::shared_ptr<const MapHistory::Map> Map = Cache.maps().at(T);
  for (auto It = MapHistory::firstFrom(*Map, Address);
       It != Map->end() && It->Address <= Last; ++It) {
    const MapHistory::Region &R = *It;
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

} // namespace chronicle::state
