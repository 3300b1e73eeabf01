// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares memory maps and threads at any moment of a random run with a model
// that looks at each page, and the tree over page chunks with a scan of all
// chunks.

#include "indexer/Indexer.h"
#include "query/state/ChunkSummaries.h"
#include "query/state/MapHistory.h"
#include "query/state/ThreadHistory.h"
#include "test/support/ProgramWriter.h"
#include "test/support/RingBuilder.h"
#include "trace-format/GuestState.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <map>
#include <random>
#include <set>

using namespace chronicle;
using namespace llvm;

namespace {

/// A page of the model.
struct ModelPage {
  uint32_t Protection, Object;
  uint64_t Offset;
  std::string Path;
  bool operator==(const ModelPage &) const = default;
};
using ModelMap = std::map<uint64_t, ModelPage>;

struct ModelThread {
  uint32_t Parent;
  uint64_t OsThread;
  Timestamp Started;
  std::optional<Timestamp> Exited;
};

/// Makes a run of map changes and threads, and keeps what it should give.
class HistoryTest : public testing::Test {
protected:
  static constexpr uint64_t FirstPage = 0x10000, Pages = 60;

  void SetUp() override {
    SmallString<128> Name;
    ASSERT_FALSE(sys::fs::createTemporaryFile("history-test", "db", Name));
    Path = Name.str().str();
  }
  void TearDown() override { (void)sys::fs::remove(Path); }

  void record(unsigned Steps) {
    indexer::IndexerOptions O;
    O.Path = Path;
    O.Overwrite = true;
    O.Run = json::Object{{"program", "/bin/test"}};
    auto Index = indexer::Indexer::create(O, Ring.memory(), Ring.bytes());
    ASSERT_TRUE(bool(Index)) << toString(Index.takeError());
    std::thread Thread([&] { (*Index)->run(); });
    ProgramWriter W(0x1000);
    W.instruction(4);
    Ring.define(1, W.finish(ProgramWriter::constant(CH_I64, 0)));
    startThread();
    while (Steps--)
      step();
    Ring.event(CH_EV_END, ch_ev_end{CH_END_EXIT, 0});
    Ring.publish(CH_CHUNK_BLOCK_END | CH_CHUNK_LAST);
    // A program that exits takes its threads with it: they lived to the end.
    for (ModelThread &T : Threads)
      if (T.Exited == Now)
        T.Exited.reset();
    Thread.join();
    Expected<indexer::IndexSummary> S = (*Index)->finish(indexer::EndInfo());
    ASSERT_TRUE(bool(S)) << toString(S.takeError());
    auto Opened = file::TraceReader::open(Path);
    ASSERT_TRUE(bool(Opened)) << toString(Opened.takeError());
    Reader = std::move(*Opened);
    ASSERT_EQ(Reader->instructions(), Now);
  }

  unsigned pick(unsigned Bound) { return unsigned(Random() % Bound); }

  void startThread() {
    Recorded = true;
    const uint32_t Number = uint32_t(Threads.size()) + 1;
    ModelThread T{Number == 1 ? 0u : 1u, 1000 + Number, Now, std::nullopt};
    Ring.event(CH_EV_THREAD_START,
               ch_ev_thread_start{Number, T.Parent, T.OsThread});
    Threads.push_back(T);
  }

  void step() {
    switch (pick(12)) {
    case 0:
      if (Threads.size() < 12)
        startThread();
      break;
    case 1:
      exitThread();
      break;
    case 2:
    case 3:
      endBlock();
      break;
    case 4:
    case 5:
    case 6:
      changeMap();
      break;
    default:
      runSome();
    }
    Maps[Now] = Map;
  }

  /// An empty block does not count.
  void endBlock() {
    if (!Recorded)
      return;
    Ring.publish(CH_CHUNK_BLOCK_END);
    Recorded = false;
    ++Block;
    Snapshots.clear();
  }

  void exitThread() {
    const unsigned Number = 2 + pick(12);
    if (Number > Threads.size() || Threads[Number - 1].Exited)
      return;
    Ring.event(CH_EV_THREAD_EXIT, ch_ev_thread{Number, 0});
    Recorded = true;
    Threads[Number - 1].Exited = Now;
  }

  void runSome() {
    Recorded = true;
    uint32_t Thread = 1 + pick(unsigned(Threads.size()));
    if (Threads[Thread - 1].Exited)
      Thread = 1;
    if (Snapshots.insert(Thread).second) {
      std::vector<uint8_t> State(CH_GUEST_STATE_SIZE);
      Ring.event(CH_EV_SNAPSHOT, ch_ev_snapshot{Thread, 0}, State);
      BlocksOf[Thread].push_back(Block);
    }
    Ring.event(CH_EV_RESUME, ch_ev_thread{Thread, 0});
    for (unsigned N = 1 + pick(5); N; --N) {
      Ring.execute(1, 1);
      ++Now;
    }
  }

  void changeMap() {
    Recorded = true;
    const uint64_t First = FirstPage + pick(Pages),
                   Count = 1 + pick(pick(4) ? 4 : 20);
    const uint32_t Protection = 1 + pick(7);
    const ch_ev_range Range{First * 4096, Count * 4096, Protection, 1};
    switch (pick(4)) {
    case 0:
      Ring.event(CH_EV_UNMAP, Range);
      for (uint64_t P = First; P < First + Count; ++P)
        Map.erase(P);
      break;
    case 1:
      Ring.event(CH_EV_PROTECT, Range);
      for (uint64_t P = First; P < First + Count; ++P)
        if (auto It = Map.find(P); It != Map.end())
          It->second.Protection = Protection;
      break;
    default: {
      ch_ev_map M = {};
      M.address = Range.address;
      M.length = Range.length;
      M.protection = Protection;
      std::string Name;
      if (pick(3) == 0) {
        Name = "/tmp/file" + std::to_string(pick(3));
        M.flags = CH_MAP_FILE;
        M.offset = pick(10) * 4096;
        if (pick(2)) {
          M.flags |= CH_MAP_SHARED;
          M.object = 1 + pick(3);
        }
      }
      Ring.event(CH_EV_MAP, M, arrayRefFromStringRef(Name));
      for (uint64_t P = 0; P < Count; ++P)
        Map[First + P] = {Protection, M.object, M.offset + P * 4096, Name};
    }
    }
  }

  /// The last map at or before T.
  const ModelMap &mapAt(Timestamp T) {
    return std::prev(Maps.upper_bound(T))->second;
  }

  std::string Path;
  RingBuilder Ring;
  std::mt19937_64 Random{7};
  Timestamp Now = 0;
  BlockNumber Block = 0;
  bool Recorded = false; ///< something in this block
  ModelMap Map;
  std::map<Timestamp, ModelMap> Maps{{0, {}}}; ///< after all changes at a time
  std::vector<ModelThread> Threads;
  std::set<uint32_t> Snapshots; ///< in this block
  std::map<uint32_t, std::vector<BlockNumber>> BlocksOf;
  std::unique_ptr<file::TraceReader> Reader;
};

TEST_F(HistoryTest, MapsAtAnyMoment) {
  record(6000);
  ASSERT_TRUE(Reader);
  const state::MapHistory History(*Reader);
  ASSERT_FALSE(History.sharedStays().empty());
  for (Timestamp T = 0; T <= Now; T += 1 + pick(20)) {
    ModelMap Found;
    uint64_t Reached = 0;
    std::shared_ptr<const state::MapHistory::Map> Map = History.at(T);
    for (const state::MapHistory::Region &R : *Map) {
      EXPECT_GE(R.Address, Reached) << "they are sorted and apart";
      Reached = R.end();
      for (uint64_t P = 0; P < R.Length / 4096; ++P)
        Found[R.Address / 4096 + P] = {
            R.Protection, R.Object,
            R.Flags & CH_MAP_FILE ? R.Offset + P * 4096 : P * 4096,
            R.Path.str()};
    }
    ASSERT_EQ(Found.size(), mapAt(T).size()) << T;
    for (const auto &[Page, Expected] : mapAt(T)) {
      const ModelPage &P = Found[Page];
      EXPECT_EQ(P.Protection, Expected.Protection) << T << ' ' << Page;
      EXPECT_EQ(P.Object, Expected.Object) << T << ' ' << Page;
      EXPECT_EQ(P.Path, Expected.Path) << T << ' ' << Page;
      if (!Expected.Path.empty()) {
        EXPECT_EQ(P.Offset, Expected.Offset) << T << ' ' << Page;
      }
    }
    for (unsigned I = 0; I < 4; ++I) {
      const uint64_t Page = FirstPage + pick(Pages);
      auto It = mapAt(T).find(Page);
      EXPECT_EQ(History.isExecutable(Page * 4096 + pick(4096), T),
                It != mapAt(T).end() && It->second.Protection & CH_PROT_EXEC);
    }
    // The map with joined neighbours covers the same pages.
    uint64_t Sum = 0;
    for (const answers::Mapping &M : History.mappingsAt(T))
      Sum += M.Length;
    EXPECT_EQ(Sum, mapAt(T).size() * 4096);
  }
}

TEST_F(HistoryTest, SharedMemoryAtBlockStarts) {
  record(3000);
  ASSERT_TRUE(Reader);
  const state::MapHistory History(*Reader);
  for (BlockNumber N = 0; N < Reader->blocks().size(); ++N) {
    std::map<uint64_t, FrameNumber> Found, ByStays;
    for (const machine::ReplayMemory::SharedRange &R : History.sharedAt(N))
      for (uint64_t P = R.First; P <= R.Last; ++P)
        Found[P] = R.Frame + (P - R.First);
    for (const state::MapHistory::SharedStay &S : History.sharedStays())
      if (S.Since < N && N <= S.Until)
        for (uint64_t P = S.First; P <= S.Last; ++P)
          ByStays[P] = S.Frame + (P - S.First);
    EXPECT_EQ(Found, ByStays) << N;
  }
}

TEST_F(HistoryTest, ThreadsAtAnyMoment) {
  record(3000);
  ASSERT_TRUE(Reader);
  const state::ThreadHistory History(*Reader);
  ASSERT_EQ(History.all().size(), Threads.size());
  for (uint32_t N = 1; N <= Threads.size(); ++N) {
    const answers::ThreadInfo *Info = History.find(N);
    ASSERT_TRUE(Info);
    EXPECT_EQ(Info->Parent, Threads[N - 1].Parent);
    EXPECT_EQ(Info->OsThread, Threads[N - 1].OsThread);
    EXPECT_EQ(Info->Started, Threads[N - 1].Started);
    EXPECT_EQ(Info->Exited, Threads[N - 1].Exited);
    const pieces::ThreadBlocks Of = Reader->blocksOf(N);
    ASSERT_EQ(Of.size(), BlocksOf[N].size());
    for (size_t I = 0; I < Of.size(); ++I)
      EXPECT_EQ(Of[I], BlocksOf[N][I]);
  }
  EXPECT_FALSE(History.find(0));
  EXPECT_FALSE(History.find(uint32_t(Threads.size()) + 1));
  EXPECT_EQ(Reader->blocksOf(99).size(), 0u);
  for (unsigned I = 0; I < 300; ++I) {
    const Timestamp T = Random() % (Now + 1);
    std::vector<uint32_t> Found, Expected;
    for (const answers::ThreadInfo &Info : History.at(T))
      Found.push_back(Info.Number);
    for (uint32_t N = 1; N <= Threads.size(); ++N)
      if (Threads[N - 1].Started <= T &&
          (!Threads[N - 1].Exited || T < *Threads[N - 1].Exited))
        Expected.push_back(N);
    EXPECT_EQ(Found, Expected) << T;

    const uint32_t Thread = 1 + pick(unsigned(Threads.size()));
    const BlockNumber At = Random() % (Reader->blocks().size() + 1);
    std::optional<BlockNumber> Next, Previous;
    for (BlockNumber N : BlocksOf[Thread]) {
      if (N < At)
        Previous = N;
      else if (!Next)
        Next = N;
    }
    EXPECT_EQ(History.nextBlock(Thread, At), Next);
    EXPECT_EQ(History.previousBlock(Thread, At), Previous);
  }
}

/// Records three threads. Thread 2 ends early; at the end of the run thread 3
/// ends by itself and the others as Last says. Returns those alive then.
class ThreadsAtTheEnd : public HistoryTest {
protected:
  std::vector<uint32_t> alive(function_ref<void()> Last, bool Died = false) {
    indexer::IndexerOptions O;
    O.Path = Path;
    O.Overwrite = true;
    O.Run = json::Object{{"program", "/bin/test"}};
    auto Index = indexer::Indexer::create(O, Ring.memory(), Ring.bytes());
    if (!Index) {
      ADD_FAILURE() << toString(Index.takeError());
      return {};
    }
    std::thread Thread([&] { (*Index)->run(); });
    ProgramWriter W(0x1000);
    W.instruction(4);
    Ring.define(1, W.finish(ProgramWriter::constant(CH_I64, 0)));
    for (unsigned I = 0; I < 3; ++I)
      startThread();
    runSome();
    exits(2);
    runSome();
    Last();
    Ring.publish(CH_CHUNK_BLOCK_END | (Died ? 0 : CH_CHUNK_LAST));
    if (Died) {
      Ring.die();
      (*Index)->recorderGone();
    }
    Thread.join();
    Expected<indexer::IndexSummary> S = (*Index)->finish(indexer::EndInfo());
    EXPECT_TRUE(bool(S)) << toString(S.takeError());
    auto Opened = file::TraceReader::open(Path);
    EXPECT_TRUE(bool(Opened)) << toString(Opened.takeError());
    const state::ThreadHistory History(**Opened);
    Killed = History.killed();
    std::vector<uint32_t> Found;
    for (const answers::ThreadInfo &I : History.at((*Opened)->instructions())) {
      Found.push_back(I.Number);
      EXPECT_FALSE(I.Exited);
    }
    return Found;
  }
  void exits(uint32_t Thread) {
    Threads[Thread - 1].Exited = Now;
    Ring.event(CH_EV_THREAD_EXIT, ch_ev_thread{Thread, 0});
  }
  void signal(uint32_t Thread, uint32_t Flags) {
    ch_ev_signal S = {};
    S.thread = Thread;
    S.number = 11;
    S.flags = Flags;
    Ring.event(CH_EV_SIGNAL, S);
  }
  void end(ch_end_reason Reason, uint32_t Code) {
    Ring.event(CH_EV_END, ch_ev_end{uint32_t(Reason), Code});
  }
  uint32_t Killed = 0;
};

TEST_F(ThreadsAtTheEnd, OfAProgramThatExits) {
  EXPECT_EQ(alive([&] {
              exits(3);
              exits(1);
              end(CH_END_EXIT, 0);
            }),
            (std::vector<uint32_t>{1, 3}));
  EXPECT_EQ(Killed, 0u);
}

TEST_F(ThreadsAtTheEnd, OfAProgramThatASignalKills) {
  EXPECT_EQ(alive([&] {
              signal(1, 0);
              signal(3, CH_SIG_FATAL);
              exits(3);
              exits(1);
              end(CH_END_SIGNAL, 11);
            }),
            (std::vector<uint32_t>{1, 3}));
  EXPECT_EQ(Killed, 3u);
}

TEST_F(ThreadsAtTheEnd, OneEndedByItselfBeforeTheSignal) {
  EXPECT_EQ(alive([&] {
              exits(3);
              signal(1, CH_SIG_FATAL);
              exits(1);
              end(CH_END_SIGNAL, 11);
            }),
            (std::vector<uint32_t>{1}));
  EXPECT_EQ(Killed, 1u);
}

TEST_F(ThreadsAtTheEnd, OfAProgramThatIsKilled) {
  EXPECT_EQ(alive([&] { exits(3); }, /*Died=*/true),
            (std::vector<uint32_t>{1}));
}

TEST_F(ThreadsAtTheEnd, OfARecordingThatWasStopped) {
  EXPECT_EQ(alive([&] {
              exits(3);
              end(CH_END_STOPPED, 0);
            }),
            (std::vector<uint32_t>{1}));
}

TEST_F(ThreadsAtTheEnd, OfAProgramThatReplacesItself) {
  EXPECT_EQ(alive(
                [&] {
                  ch_ev_syscall_enter Call = {};
                  Call.thread = 1;
                  Call.number = 59;
                  Ring.event(CH_EV_SYSCALL_ENTER, Call);
                  exits(3);
                },
                /*Died=*/true),
            (std::vector<uint32_t>{1, 3}));
}

TEST(ChunkSummaries, FindsWhatAScanFinds) {
  std::mt19937_64 Random(3);
  for (size_t Count : {0, 1, 15, 16, 17, 255, 256, 257, 5000}) {
    std::vector<PageChunkEntry> Chunks(Count);
    for (size_t I = 0; I < Count; ++I) {
      Chunks[I] = {I / 1000, I, I, 0, {}};
      // Granule 0 is written nearly always, the others hardly ever.
      Chunks[I].Granules[0] = Random() % 10 ? 1 : 0;
      if (Random() % 40 == 0)
        Chunks[I].Granules[Random() % 8] |= uint64_t(1) << Random() % 64;
    }
    const state::ChunkSummaries Tree(Chunks);
    for (unsigned Try = 0; Try < 400; ++Try) {
      size_t First = Random() % (Count + 1), End = Random() % (Count + 1);
      if (First > End)
        std::swap(First, End);
      uint64_t Wanted[GranuleWords] = {};
      Wanted[Random() % 8] = Try % 3 ? uint64_t(1) << Random() % 64 : 0xff00;
      auto Is = [&](size_t I) {
        return state::intersect(Chunks[I].Granules, Wanted);
      };
      size_t Next = First, Previous = End;
      while (Next < End && !Is(Next))
        ++Next;
      while (Previous > First && !Is(Previous - 1))
        --Previous;
      EXPECT_EQ(Tree.next(First, End, Wanted), Next) << First << ' ' << End;
      EXPECT_EQ(Tree.previous(First, End, Wanted), Previous)
          << First << ' ' << End;
    }
  }
}

} // namespace
