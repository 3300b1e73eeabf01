// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The indexer against a model that does the same byte by byte: random streams
// go through a ring into a file, and what TraceReader finds in it must be what
// the model says. And what becomes of streams, files and disks that are not
// sound.

#include "indexer/Indexer.h"
#include "RandomRun.h"
#include "indexer/SuperblockTable.h"
#include "query/state/RecentPieces.h"
#include "trace-format/bytecode/BytecodeReader.h"
#include "trace-format/events/Events.h"
#include "trace-format/file/TraceReader.h"
#include "trace-format/pieces/BlockFormat.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <csignal>
#include <set>
#include <sys/resource.h>

using namespace chronicle;
using namespace llvm;

namespace {

/// A file that goes away, an indexer for it, and its thread.
class IndexerTest : public testing::Test {
protected:
  void SetUp() override {
    SmallString<128> Name;
    ASSERT_FALSE(sys::fs::createTemporaryFile("indexer-test", "db", Name));
    Path = Name.str().str();
  }
  void TearDown() override {
    if (Thread.joinable()) {
      Index->recorderGone();
      Thread.join();
    }
    Index.reset();
    (void)sys::fs::remove(Path);
  }
  void start(RingBuilder &Ring, unsigned CheckpointBlocks = 7,
             file::Codec Compression = file::Codec::Zstd,
             pieces::ProgramMaker Programs = {}) {
    indexer::IndexerOptions O;
    O.Path = Path;
    O.Overwrite = true;
    O.Compression.Bulk = O.Compression.Others = Compression;
    O.Workers = 2;
    O.CheckpointBlocks = CheckpointBlocks;
    O.Programs = std::move(Programs);
    O.Run = json::Object{{"program", "/bin/test"}};
    auto Created = indexer::Indexer::create(O, Ring.memory(), Ring.bytes());
    ASSERT_TRUE(bool(Created)) << toString(Created.takeError());
    Index = std::move(*Created);
    Thread = std::thread([this] { Index->run(); });
  }
  indexer::IndexSummary finish(bool Dead = false) {
    if (Dead)
      Index->recorderGone();
    Thread.join();
    indexer::EndInfo Info;
    Info.Seconds = 1.5;
    Info.Code = 9;
    Expected<indexer::IndexSummary> S = Index->finish(Info);
    EXPECT_TRUE(bool(S)) << toString(S.takeError());
    return S ? *S : indexer::IndexSummary();
  }
  std::unique_ptr<file::TraceReader> open() {
    auto T = file::TraceReader::open(Path);
    if (!T) {
      ADD_FAILURE() << toString(T.takeError());
      return nullptr;
    }
    return std::move(*T);
  }
  void compare(const file::TraceReader &T, ArrayRef<ExpectedBlock> Blocks);

  std::string Path;
  std::unique_ptr<indexer::Indexer> Index;
  std::thread Thread;
};

/// What the index says of executions pieces, if it can say anything, is what
/// is in them.
static void compareIndex(const file::TraceReader &T) {
  state::RecentPieces Recent(T);
  std::vector<uint32_t> All;
  for (uint32_t Id = 1; Id < T.superblockCount(); ++Id)
    All.push_back(Id);
  using Places = std::set<std::pair<uint32_t, uint64_t>>; // superblock, piece
  Places Indexed, Found;
  const bool Known =
      Recent.visitExecutionIndex(All, [&](const pieces::ExecutionRun &R) {
        for (uint64_t Piece = R.First; Piece <= R.Last; ++Piece)
          if (Piece < T.executionPieces().size())
            Indexed.insert({R.Superblock, Piece});
      });
  EXPECT_TRUE(Known || T.rebuilt());
  if (!Known)
    return;
  for (auto [Piece, Entry] : enumerate(T.executionPieces())) {
    auto Runs = T.readExecutions(Entry);
    ASSERT_TRUE(bool(Runs)) << toString(Runs.takeError());
    Error E = Runs->Range.visit(All, [&](const pieces::ExecutionRun &R) {
      Found.insert({R.Superblock, Piece});
    });
    ASSERT_FALSE(errorToBool(std::move(E)));
  }
  EXPECT_EQ(Indexed, Found);
  // One at a time: each is in the part it should be in.
  Indexed.clear();
  for (uint32_t Id : All)
    EXPECT_TRUE(
        Recent.visitExecutionIndex(Id, [&](const pieces::ExecutionRun &R) {
          EXPECT_EQ(R.Superblock, Id);
          for (uint64_t Piece = R.First; Piece <= R.Last; ++Piece)
            if (Piece < T.executionPieces().size())
              Indexed.insert({R.Superblock, Piece});
        }));
  EXPECT_EQ(Indexed, Found);
}

void IndexerTest::compare(const file::TraceReader &T,
                          ArrayRef<ExpectedBlock> Blocks) {
  ASSERT_EQ(T.blocks().size(), Blocks.size());
  std::map<std::pair<uint64_t, uint64_t>, Granules> Written;
  for (const PageChunkEntry &E : T.pageChunks()) {
    auto C = T.readPageChunk(E);
    ASSERT_TRUE(bool(C)) << toString(C.takeError());
    ASSERT_FALSE(C->Deltas.empty());
    EXPECT_EQ(C->Deltas.back().Block, E.Last);
    for (const PageDelta &D : C->Deltas) {
      if (D.Kind != GranulesDelta)
        continue;
      Granules &G = Written[{D.Block, E.Frame}];
      EXPECT_TRUE(G.none()) << "two deltas for one block";
      for (unsigned N = 0; N < GranulesPerPage; ++N)
        G[N] = D.Granules[N / 64] >> (N % 64) & 1;
    }
  }
  std::set<uint64_t> Frames;
  for (const ExpectedBlock &B : Blocks)
    for (const auto &[Frame, Page] : B.Memory)
      Frames.insert(Frame);
  uint64_t Executions = 0;
  std::map<uint32_t, std::vector<BlockNumber>> BlocksOf; // threads
  for (size_t N = 0; N < Blocks.size(); ++N) {
    const ExpectedBlock &Expected = Blocks[N];
    auto B = T.readBlock(N);
    ASSERT_TRUE(bool(B)) << toString(B.takeError());
    EXPECT_EQ(T.blocks()[N].First, Expected.First);
    EXPECT_EQ(B->First, Expected.First);
    EXPECT_EQ(B->Instructions, Expected.Instructions);
    EXPECT_EQ(B->Symbols, Expected.Symbols);
    EXPECT_EQ(ByteVector(B->Opaque.begin(), B->Opaque.end()), Expected.Opaque);
    std::vector<ExpectedEvent> Events;
    uint64_t Kinds = 0;
    for (const Event &E : B->Events) {
      Events.push_back({E.Execution, E.Kind,
                        ByteVector(E.Payload.begin(), E.Payload.end())});
      Kinds |= uint64_t(1) << E.Kind;
    }
    EXPECT_EQ(Events, Expected.Events);
    EXPECT_EQ(T.blocks()[N].Kinds, Kinds);
    for (uint32_t Thread : pieces::snapshotThreads(B->Events))
      BlocksOf[Thread].push_back(N);
    Executions += Expected.Symbols.size();

    uint64_t Pages = 0, Count = 0;
    for (const auto &[Frame, G] : Expected.Dirty) {
      ASSERT_EQ((Written[{N, Frame}]), G)
          << "block " << N << " frame " << Frame;
      Written.erase({N, Frame});
      ++Pages;
      Count += G.count();
    }
    EXPECT_EQ(B->DirtyPages, Pages);
    EXPECT_EQ(B->DirtyGranules, Count);
    for (uint64_t Frame : Frames) {
      PageBytes Page;
      ASSERT_FALSE(errorToBool(T.readFrame(Frame, N + 1, Page.data())));
      auto It = Expected.Memory.find(Frame);
      ASSERT_EQ(Page, It == Expected.Memory.end() ? PageBytes{} : It->second)
          << "at the end of block " << N << ", frame " << Frame;
    }
  }
  EXPECT_TRUE(Written.empty()) << "deltas for blocks that wrote nothing there";
  BlocksOf[99]; // nobody
  for (const auto &[Thread, Expected] : BlocksOf) {
    const pieces::ThreadBlocks Of = T.blocksOf(Thread);
    ASSERT_EQ(Of.size(), Expected.size()) << Thread;
    for (size_t I = 0; I < Of.size(); ++I)
      EXPECT_EQ(Of[I], Expected[I]) << Thread;
  }
  compareIndex(T);
  EXPECT_EQ(T.executions(), Executions);
  EXPECT_EQ(T.instructions(), Blocks.back().First + Blocks.back().Instructions);
  for (size_t N = 0; N < Blocks.size(); ++N)
    if (Blocks[N].Instructions) {
      EXPECT_EQ(T.blockAt(Blocks[N].First), N);
      EXPECT_EQ(T.blockAt(Blocks[N].First + Blocks[N].Instructions - 1), N);
    }
}

TEST(Step, SumsOfTheLargest) {
  const uint32_t Most = 4095;
  const int64_t Far = (1 << 17) - 1;
  ASSERT_TRUE(indexer::Step::fits(Most, Far) &&
              indexer::Step::fits(Most, -Far));
  EXPECT_FALSE(indexer::Step::fits(Most + 1, 0));
  EXPECT_FALSE(indexer::Step::fits(0, Far + 1));
  EXPECT_FALSE(indexer::Step::fits(0, -Far - 1));
  for (indexer::Step::Kind K : {indexer::Step::Plain, indexer::Step::Rises,
                                indexer::Step::Calls, indexer::Step::Other})
    for (int64_t Stack : {Far, int64_t(0), int64_t(-8), -Far}) {
      const indexer::Step S(K, Most, Stack);
      EXPECT_EQ(S.isSpecial(), K != indexer::Step::Plain);
      EXPECT_EQ(S.is(indexer::Step::Calls), K == indexer::Step::Calls);
      EXPECT_EQ(S.is(indexer::Step::Other), K == indexer::Step::Other);
      indexer::Step Sum;
      for (uint32_t N = 1; N <= indexer::Step::BatchSize; ++N) {
        Sum = Sum + S;
        ASSERT_EQ(Sum.count(), N);
        ASSERT_EQ(Sum.instructions(), N * Most);
        ASSERT_EQ(Sum.stack(), N * Stack);
      }
    }
}

TEST_F(IndexerTest, RandomRuns) {
  for (unsigned Seed = 1; Seed <= 6; ++Seed) {
    RingBuilder Ring;
    RandomRun Run(Seed, Ring);
    start(Ring, Seed == 3 ? 1000 : 7,
          Seed == 1   ? file::Codec::None
          : Seed == 2 ? file::Codec::Zlib
          : Seed == 3 ? file::Codec::Lz4
                      : file::Codec::Zstd);
    for (unsigned N = 0; N < 60; ++N)
      Run.block(100);
    Run.finish();
    indexer::IndexSummary S = finish();
    EXPECT_EQ(S.Reason, "exit");
    EXPECT_EQ(S.Code, 3u);
    EXPECT_EQ(S.Failure, "");
    EXPECT_EQ(S.Superblocks, 40u);
    EXPECT_EQ(S.OutsideWrites, Run.OutsideWrites);
    EXPECT_EQ(S.UnreportedWrites, Run.UnreportedWrites);
    EXPECT_GT(S.OutsideWrites, 0u);
    EXPECT_GT(S.UnreportedWrites, 0u);
    EXPECT_TRUE(Ring.header().requests & CH_REQUEST_LOG_LOADS);
    EXPECT_FALSE(Ring.header().requests & CH_REQUEST_STOP);
    auto T = open();
    ASSERT_TRUE(T);
    EXPECT_EQ(T->truncated(), "");
    EXPECT_FALSE(T->rebuilt());
    EXPECT_EQ(T->fileSize(), S.FileBytes);
    compare(*T, Run.Blocks);
    EXPECT_FALSE(errorToBool(T->checkAllPieces()));
    EXPECT_EQ(T->run().getString("program"), StringRef("/bin/test"));
    ASSERT_TRUE(T->end());
    EXPECT_EQ(T->end()->getInteger("instructions"), int64_t(T->instructions()));
    EXPECT_EQ(T->reasonName(CH_REASON_FIRST_OP + 1), "SomeOp");
    ASSERT_EQ(T->superblockCount(), 41u);
    for (uint32_t Id = 1; Id <= 40; ++Id) {
      EXPECT_EQ(T->definition(Id).Bytes,
                ArrayRef<uint8_t>(Run.Superblocks[Id].Definition));
      EXPECT_EQ(T->definition(Id).FirstExit, Run.Superblocks[Id].FirstExit);
      EXPECT_EQ(T->superblockOfExit(Run.Superblocks[Id].FirstExit), Id);
    }
    // The timeline has the map changes of all blocks.
    size_t Changes = 0;
    for (const ExpectedBlock &B : Run.Blocks)
      Changes += llvm::count_if(B.Events, [](const ExpectedEvent &E) {
        return E.Kind == CH_EV_MAP || E.Kind == CH_EV_UNMAP;
      });
    EXPECT_EQ(T->timeline().size(), Changes);
  }
}

TEST_F(IndexerTest, RunAreasAreClearedForTheNextChunk) {
  RingBuilder Ring(2);
  RandomRun Run(7, Ring);
  start(Ring);
  for (unsigned N = 0; N < 20; ++N)
    Run.block(50);
  Run.finish();
  finish();
  const auto *Base =
      static_cast<const uint8_t *>(Ring.memory()) + CH_RING_HEADER_SIZE;
  for (unsigned Chunk = 0; Chunk < 2; ++Chunk)
    for (unsigned At = 0; At < Ring.header().run_bytes; ++At)
      ASSERT_EQ(Base[Chunk * Ring.header().chunk_stride +
                     sizeof(ch_chunk_header) + At],
                0);
}

/// What stores changed, of which only the end of the block is told.
static void
tell(RingBuilder &Ring, uint32_t Flags,
     const std::map<uint64_t, std::map<unsigned, uint64_t>> &Pages) {
  ByteVector Records;
  for (const auto &[Address, Granules] : Pages) {
    ch_stored_page P = {};
    P.address = Address;
    ByteVector Bytes;
    for (auto [Granule, Value] : Granules) {
      P.granules[Granule / 64] |= uint64_t(1) << Granule % 64;
      append_range(Bytes, RingBuilder::payload(Value));
    }
    append_range(Records, RingBuilder::payload(P, Bytes));
  }
  Ring.event(CH_EV_STORED, ch_ev_stored{Flags, 0}, Records);
}

TEST_F(IndexerTest, StoresThatAreTold) {
  for (bool Killed : {false, true}) {
    RingBuilder Ring;
    start(Ring);
    ProgramWriter W(0x1000, CH_DEF_MARKS_STORES);
    const auto Zero = ProgramWriter::constant(CH_I64, 0);
    W.instruction(4);
    W.store(Zero, Zero);
    Ring.define(1, W.finish(Zero));
    Ring.execute(1, 1);
    tell(Ring, 0, {{0x5000, {{0, 7}, {63, 8}, {64, 9}, {511, 10}}}});
    Ring.execute(1, 1);
    tell(Ring, CH_STORED_ALL, {{0x5000, {{0, 17}}}, {0x8000, {{3, 4}}}});
    Ring.publish(CH_CHUNK_BLOCK_END);
    Ring.execute(1, 1);
    Ring.execute(1, 1);
    if (Killed) {
      Ring.die();
    } else {
      tell(Ring, CH_STORED_ALL, {{0x8000, {{4, 0}}}});
      Ring.publish(CH_CHUNK_BLOCK_END | CH_CHUNK_LAST);
    }
    finish(Killed);
    auto T = open();
    ASSERT_TRUE(T);
    ASSERT_EQ(T->blocks().size(), 2u);
    uint8_t Page[PageSize];
    auto Granule = [&](uint64_t Frame, unsigned G) {
      EXPECT_FALSE(errorToBool(T->readFrame(Frame, 1, Page)));
      return support::endian::read64le(Page + G * GranuleSize);
    };
    EXPECT_EQ(Granule(5, 0), 17u);
    EXPECT_EQ(Granule(5, 63), 8u);
    EXPECT_EQ(Granule(5, 64), 9u);
    EXPECT_EQ(Granule(5, 511), 10u);
    EXPECT_EQ(Granule(8, 3), 4u);
    Expected<Block> First = T->readBlock(0), Second = T->readBlock(1);
    ASSERT_TRUE(bool(First) && bool(Second));
    EXPECT_EQ(First->DirtyPages, 2u);
    EXPECT_EQ(First->DirtyGranules, 5u);
    EXPECT_EQ(Second->DirtyGranules, Killed ? 0u : 1u);
    // Readers learn that only replay knows what the last block wrote.
    constexpr uint64_t Untold = uint64_t(1) << CH_EV_STORED;
    EXPECT_FALSE(T->blocks()[0].Kinds & Untold);
    EXPECT_EQ(bool(T->blocks()[1].Kinds & Untold), Killed);
  }
}

TEST_F(IndexerTest, LoadsOfWatchedMemory) {
  for (bool Killed : {false, true}) {
    RingBuilder Ring;
    start(Ring);
    ProgramWriter W(0x1000, CH_DEF_MARKS_STORES);
    const auto Zero = ProgramWriter::constant(CH_I64, 0);
    W.instruction(4);
    W.instruction(4);
    Ring.define(1, W.finish(Zero));
    Ring.execute(1, 1);
    Ring.execute(1, 1);
    Ring.loaded({0x5003, 2, 0, 0x1004}, {1, 2});
    Ring.loaded({0x5008, 1, CH_LOADED_BY_SWAP, 0x1000}, {3});
    Ring.execute(1, 0);
    Ring.loaded({0x5010, 1, 0, 0x1000}, {4});
    Ring.event(CH_EV_FAULT, ch_ev_fault{1, 0, 0x1004});
    Ring.execute(1, 1);
    if (Killed) {
      // How far the last superblock got is not known, so it is dropped.
      Ring.loaded({0x5018, 1, 0, 0x1000}, {5});
      Ring.die();
    } else
      Ring.publish(CH_CHUNK_BLOCK_END | CH_CHUNK_LAST);
    finish(Killed);
    auto T = open();
    ASSERT_TRUE(T);
    Expected<Block> B = T->readBlock(0);
    ASSERT_TRUE(bool(B));
    EXPECT_EQ(B->Symbols.size(), Killed ? 3u : 4u);
    struct Found {
      uint64_t Execution, Address;
      uint32_t Instruction, Flags;
      std::vector<uint8_t> Bytes;
      bool operator==(const Found &) const = default;
    };
    std::vector<Found> Writes;
    for (const Event &E : B->Events)
      if (auto O = E.as<events::OutsideWriteEvent>())
        Writes.push_back({E.Execution, O->address, O->instruction, O->flags,
                          O->bytes().vec()});
    const std::vector<Found> Expected = {
        {1, 0x5003, 1, 0, {1, 2}},
        {1, 0x5008, 0, CH_OUTSIDE_BEFORE_SWAP, {3}},
        {2, 0x5010, 0, 0, {4}}};
    EXPECT_TRUE(Writes == Expected);
    uint8_t Page[PageSize];
    ASSERT_FALSE(errorToBool(T->readFrame(5, 1, Page)));
    EXPECT_EQ(Page[3], 1u);
    EXPECT_EQ(Page[8], 3u);
    EXPECT_EQ(Page[16], 4u);
    EXPECT_EQ(Page[24], 0u);
  }
}

TEST_F(IndexerTest, DeathWithoutWarning) {
  RingBuilder Ring;
  RandomRun Run(8, Ring);
  start(Ring);
  for (unsigned N = 0; N < 10; ++N)
    Run.block(50);
  Run.openBlock(40);
  // Nobody knows how far the last superblock got: it is dropped.
  Run.endBlock();
  Ring.execute(1, 1);
  Ring.die();
  indexer::IndexSummary S = finish(/*Dead=*/true);
  EXPECT_EQ(S.Reason, "killed");
  EXPECT_EQ(S.Code, 9u);
  auto T = open();
  ASSERT_TRUE(T);
  EXPECT_EQ(T->truncated(), "");
  compare(*T, Run.Blocks);
}

TEST_F(IndexerTest, DeathInExec) {
  RingBuilder Ring;
  RandomRun Run(9, Ring);
  start(Ring);
  Run.block(10);
  ch_ev_syscall_enter E = {1, 59, {}};
  Ring.event(CH_EV_SYSCALL_ENTER, E);
  Ring.die();
  EXPECT_EQ(finish(/*Dead=*/true).Reason, "exec");
}

TEST_F(IndexerTest, WaitKnowsBestHowItEnded) {
  RingBuilder Ring;
  RandomRun Run(13, Ring);
  start(Ring);
  Run.finish();
  Thread.join();
  indexer::EndInfo Info;
  Info.Signal = 9;
  Expected<indexer::IndexSummary> S = Index->finish(Info);
  ASSERT_TRUE(bool(S)) << toString(S.takeError());
  EXPECT_EQ(S->Reason, "signal");
  EXPECT_EQ(S->Code, 9u);
}

TEST_F(IndexerTest, Modules) {
  // An ELF header, two segments and a note with a build id, as mapped.
  ByteVector Image(PageSize);
  ELF::Elf64_Ehdr Header = {};
  std::memcpy(Header.e_ident, ELF::ElfMagic, 4);
  Header.e_phoff = 64;
  Header.e_phentsize = sizeof(ELF::Elf64_Phdr);
  Header.e_phnum = 2;
  std::memcpy(Image.data(), &Header, sizeof(Header));
  ELF::Elf64_Phdr Segments[2] = {};
  Segments[0].p_type = ELF::PT_LOAD;
  Segments[0].p_vaddr = 0x400000;
  Segments[0].p_memsz = 0x2345;
  Segments[1].p_type = ELF::PT_NOTE;
  Segments[1].p_offset = 0x200;
  Segments[1].p_vaddr = 0x400200;
  Segments[1].p_filesz = 20;
  Segments[1].p_align = 4;
  std::memcpy(Image.data() + 64, Segments, sizeof(Segments));
  ByteVector Note{4, 0, 0,   0,   4,   0, 0,    0,    3, 0,
                  0, 0, 'G', 'N', 'U', 0, 0xca, 0xfe, 1, 2};
  std::memcpy(Image.data() + 0x200, Note.data(), Note.size());

  RingBuilder Ring;
  start(Ring);
  auto Map = [&](uint64_t Address, uint64_t Offset, uint32_t Protection,
                 uint64_t Inode, StringRef Name) {
    ch_ev_map E = {};
    E.address = Address;
    E.length = PageSize;
    E.offset = Offset;
    E.inode = Inode;
    E.protection = Protection;
    E.flags = CH_MAP_FILE;
    Ring.event(CH_EV_MAP, E, arrayRefFromStringRef(Name));
    if (Offset)
      return;
    ch_ev_memory M = {Address, PageSize, 0, CH_MEM_MAPPED, 0, 0};
    Ring.event(CH_EV_MEMORY, M, Image);
  };
  Map(0x400000, 0, CH_PROT_READ, 7, "/bin/program");
  Map(0x401000, PageSize, CH_PROT_READ | CH_PROT_EXEC, 7, "/bin/program");
  // Read as data only: not a module.
  Map(0x800000, 0, CH_PROT_READ, 8, "/lib/data.so");
  Ring.publish(CH_CHUNK_BLOCK_END | CH_CHUNK_LAST);
  finish();
  auto T = open();
  ASSERT_TRUE(T && T->end());
  const json::Array *Modules = T->end()->getArray("modules");
  ASSERT_TRUE(Modules);
  ASSERT_EQ(Modules->size(), 1u);
  const json::Object &M = *(*Modules)[0].getAsObject();
  EXPECT_EQ(M.getString("path"), StringRef("/bin/program"));
  EXPECT_EQ(M.getInteger("address"), 0x400000);
  EXPECT_EQ(M.getInteger("size"), 0x3000);
  EXPECT_EQ(M.getString("build-id"), StringRef("cafe0102"));
}

TEST_F(IndexerTest, StreamsThatMakeNoSense) {
  struct {
    const char *Says;
    void (*Do)(RingBuilder &);
  } Cases[] = {
      {"run word names exit 5000, but no superblock has that exit",
       [](RingBuilder &R) { R.word(5000); }},
      {"run word names exit 0, but no superblock has that exit",
       [](RingBuilder &R) { R.word(CH_RUN_FAULT); }},
      {"the slots of superblock 1 are missing",
       [](RingBuilder &R) { R.execute(1, 1); }},
      {"run word names an event, but none is left",
       [](RingBuilder &R) { R.word(CH_RUN_EVENT); }},
      {"but no fault event follows", [](RingBuilder &R) { R.execute(1, 0); }},
      {"invalid event of kind 99", [](RingBuilder &R) { R.record(99, {}); }},
      {"superblock 5 is defined out of order",
       [](RingBuilder &R) {
         ch_ev_define E = {5, 1};
         R.event(CH_EV_DEFINE, E);
       }},
      {"before any superblock of its chunk",
       [](RingBuilder &R) { R.loaded({0x5000, 1, 0, 0x1000}, {1}); }},
      {"load of watched memory outside of a superblock",
       [](RingBuilder &R) { R.event(CH_EV_LOADED, ch_ev_loaded()); }},
      {"the pages of a stored event are cut off",
       [](RingBuilder &R) {
         R.event(CH_EV_STORED, ch_ev_stored(), ByteVector(40));
       }},
  };
  for (auto &Case : Cases) {
    RingBuilder Ring;
    RandomRun Run(10, Ring);
    start(Ring);
    Run.block(20);
    Run.block(20);
    Case.Do(Ring);
    Ring.publish(CH_CHUNK_BLOCK_END);
    // It is drained on, and asks for an end.
    for (unsigned N = 0; N < 10; ++N)
      Ring.publish(CH_CHUNK_BLOCK_END);
    Ring.publish(CH_CHUNK_LAST);
    indexer::IndexSummary S = finish();
    EXPECT_EQ(S.Reason, "stream-error");
    EXPECT_NE(S.Failure.find(Case.Says), std::string::npos) << S.Failure;
    EXPECT_TRUE(Ring.header().requests & CH_REQUEST_STOP);
    auto T = open();
    ASSERT_TRUE(T);
    EXPECT_NE(T->truncated(), "");
    compare(*T, ArrayRef(Run.Blocks).take_front(2));
  }
}

/// A limit on file sizes is the full disk that a test can have.
class SmallDisk {
public:
  explicit SmallDisk(rlim_t Bytes) {
    getrlimit(RLIMIT_FSIZE, &Old);
    rlimit Small = {Bytes, Old.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &Small), 0);
  }
  ~SmallDisk() {
    setrlimit(RLIMIT_FSIZE, &Old);
    std::signal(SIGXFSZ, OldHandler);
  }

private:
  void (*OldHandler)(int) = std::signal(SIGXFSZ, SIG_IGN);
  rlimit Old;
};

/// Programs of a kind: what the definition begins with, Bytes in all.
pieces::ProgramMaker firstBytes(size_t Bytes) {
  return {77, [Bytes](uint32_t, ArrayRef<uint8_t> Definition) {
            SmallVector<uint8_t, 0> Program(Bytes);
            std::memcpy(Program.data(), Definition.data(), 8);
            return std::optional(std::move(Program));
          }};
}

TEST_F(IndexerTest, Programs) {
  RingBuilder Ring;
  RandomRun Run(12, Ring);
  start(Ring, 7, file::Codec::Zstd, firstBytes(16));
  for (unsigned N = 0; N < 40; ++N)
    Run.block(100);
  Run.finish();
  finish();
  auto T = open();
  ASSERT_TRUE(T);
  // How many blocks each superblock ran in.
  std::map<uint32_t, std::set<size_t>> Ran;
  for (size_t N = 0; N < T->blocks().size(); ++N) {
    auto B = T->readBlock(N);
    ASSERT_TRUE(bool(B)) << toString(B.takeError());
    for (uint32_t Exit : B->Symbols)
      Ran[T->superblockOfExit(Exit)].insert(N);
  }
  pieces::StoredPrograms Stored =
      pieces::StoredPrograms::create(T->programs(), 77);
  unsigned Found = 0;
  for (uint32_t Id = 1; Id < T->superblockCount(); ++Id) {
    ArrayRef<uint8_t> Program = Stored.find(Id);
    EXPECT_EQ(!Program.empty(), Ran[Id].size() >= 4) << Id;
    if (Program.empty())
      continue;
    ++Found;
    EXPECT_EQ(support::endian::read64le(Program.data()),
              T->superblockAddresses()[Id]);
  }
  EXPECT_GT(Found, 0u);
  ArrayRef<uint8_t> Passed = Stored.passed();
  ASSERT_EQ(Passed.size(), T->exitCount());
  for (uint32_t Exit = 0; Exit < Passed.size(); ++Exit) {
    Definition D = T->definition(T->superblockOfExit(Exit));
    auto Reader = bytecode::BytecodeReader::create(D.Bytes);
    ASSERT_TRUE(bool(Reader)) << toString(Reader.takeError());
    unsigned Instructions = 0, Exits = 0;
    for (bytecode::Statement S;
         Exits <= Exit - D.FirstExit && Reader->next(S);) {
      Instructions += S.Opcode == CH_OP_INSTRUCTION;
      Exits += S.Opcode == CH_OP_EXIT || S.Opcode == CH_OP_NEXT;
    }
    EXPECT_EQ(Passed[Exit], Instructions) << Exit;
  }
  EXPECT_TRUE(Stored.find(T->superblockCount() + 1000).empty());
  // Of another version, there are none.
  EXPECT_TRUE(
      pieces::StoredPrograms::create(T->programs(), 78).find(1).empty());
  EXPECT_TRUE(
      pieces::StoredPrograms::create(T->programs(), 78).passed().empty());
  // A byte of what the checksum covers changed, or the end missing.
  std::vector<uint64_t> Copy(T->programs().size() / 8 + 1);
  auto *Bytes = reinterpret_cast<uint8_t *>(Copy.data());
  std::memcpy(Bytes, T->programs().data(), T->programs().size());
  const size_t First =
      pieces::StoredPrograms::HeadSize + 4 * (Bytes[8] | Bytes[9] << 8);
  Bytes[First] ^= 1;
  ArrayRef<uint8_t> Damaged(Bytes, T->programs().size());
  EXPECT_TRUE(pieces::StoredPrograms::create(Damaged, 77).passed().empty());
  EXPECT_TRUE(pieces::StoredPrograms::create(Damaged.take_front(First), 77)
                  .passed()
                  .empty());
  EXPECT_FALSE(bool(T->checkAllPieces()));
}

// Programs that do not fit are left out, and nothing else is.
TEST_F(IndexerTest, FullDiskForPrograms) {
  SmallDisk Disk(2 << 20);
  RingBuilder Ring;
  RandomRun Run(13, Ring);
  start(Ring, 7, file::Codec::Zstd, firstBytes(3 << 20));
  for (unsigned N = 0; N < 40; ++N)
    Run.block(100);
  Run.finish();
  indexer::IndexSummary S = finish();
  EXPECT_EQ(S.Failure, "");
  auto T = open();
  ASSERT_TRUE(T);
  EXPECT_FALSE(T->rebuilt());
  EXPECT_EQ(T->truncated(), "");
  EXPECT_TRUE(T->programs().empty());
  EXPECT_LE(T->fileSize(), 2u << 20);
  compare(*T, Run.Blocks);
}

TEST_F(IndexerTest, FullDisk) {
  SmallDisk Disk(500 << 10);
  RingBuilder Ring;
  RandomRun Run(11, Ring);
  start(Ring, 3, file::Codec::None);
  for (unsigned N = 0; N < 60; ++N)
    Run.block(100);
  Run.finish();
  indexer::IndexSummary S = finish();
  EXPECT_EQ(S.Reason, "disk-full");
  EXPECT_NE(S.Failure.find("File too large"), std::string::npos) << S.Failure;
  EXPECT_TRUE(Ring.header().requests & CH_REQUEST_STOP);
  EXPECT_GT(S.Blocks, 3u);
  EXPECT_LT(S.Blocks, 60u);
  auto T = open();
  ASSERT_TRUE(T);
  EXPECT_FALSE(T->rebuilt());
  EXPECT_NE(T->truncated().find("the trace ends at instruction"),
            StringRef::npos);
  EXPECT_LE(T->fileSize(), 500u << 10);
  compare(*T, ArrayRef(Run.Blocks).take_front(S.Blocks));
}

TEST_F(IndexerTest, OutputThatCannotBeCreated) {
  RingBuilder Ring;
  indexer::IndexerOptions O;
  O.Path = Path;
  auto I = indexer::Indexer::create(O, Ring.memory(), Ring.bytes());
  EXPECT_EQ(toString(I.takeError()), "'" + Path + "' exists already");
  indexer::IndexerOptions O2;
  O2.Path = "/nonexistent/x.db";
  I = indexer::Indexer::create(O2, Ring.memory(), Ring.bytes());
  EXPECT_EQ(toString(I.takeError()),
            "cannot create '/nonexistent/x.db': No such file or directory");
  Ring.header().version = 99;
  indexer::IndexerOptions O3;
  O3.Path = Path;
  I = indexer::Indexer::create(O3, Ring.memory(), Ring.bytes());
  EXPECT_NE(toString(I.takeError()).find("version 99"), std::string::npos);
}

/// Reads everything there is; any result will do but a crash.
static void readAll(const file::TraceReader &T) {
  for (size_t N = 0; N < T.blocks().size(); ++N)
    consumeError(T.readBlock(N).takeError());
  for (const PageChunkEntry &E : T.pageChunks())
    consumeError(T.readPageChunk(E).takeError());
  EXPECT_FALSE(T.partSizes().empty());
}

TEST_F(IndexerTest, DamagedFiles) {
  RingBuilder Ring;
  RandomRun Run(12, Ring, /*Count=*/6, /*Pages=*/2);
  start(Ring, 1);
  for (unsigned N = 0; N < 3; ++N)
    Run.block(5, /*Large=*/false);
  Run.finish();
  finish();
  auto Buffer = MemoryBuffer::getFile(Path);
  ASSERT_TRUE(bool(Buffer));
  std::string Good = (*Buffer)->getBuffer().str();
  auto Open = [](StringRef Bytes) {
    return file::TraceReader::open(
        MemoryBuffer::getMemBuffer(Bytes, "damaged.db", false));
  };

  // Cut anywhere: an error, or the blocks up to a checkpoint, and it says so.
  size_t Opened = 0, Whole = 0;
  for (size_t Size = 0; Size < Good.size(); ++Size) {
    auto T = Open(StringRef(Good).take_front(Size));
    if (!T) {
      EXPECT_FALSE(toString(T.takeError()).empty());
      continue;
    }
    ++Opened;
    EXPECT_TRUE((*T)->rebuilt());
    Whole += (*T)->truncated().empty();
    if (!(*T)->truncated().empty()) {
      EXPECT_EQ((*T)->end(), nullptr);
    }
    compare(**T, ArrayRef(Run.Blocks).take_front((*T)->blocks().size()));
  }
  EXPECT_GT(Opened, Good.size() / 4);
  // Only the directory and the footer were lost.
  EXPECT_GT(Whole, 1u);
  EXPECT_GT(Opened, Whole);

  // One bit wrong anywhere: found, or it did no harm; never a crash, never
  // another run than the one recorded.
  for (size_t At = 0; At < Good.size(); ++At) {
    std::string Bad = Good;
    Bad[At] ^= char(1 << (At % 8));
    auto T = Open(Bad);
    if (!T) {
      EXPECT_FALSE(toString(T.takeError()).empty());
      continue;
    }
    readAll(**T);
    // All tables are sound, made again or not.
    ASSERT_LE((*T)->blocks().size(), Run.Blocks.size()) << At;
    for (uint32_t Thread = 0; Thread < 4; ++Thread) {
      const pieces::ThreadBlocks Of = (*T)->blocksOf(Thread);
      for (size_t I = 0; I < Of.size(); ++I)
        ASSERT_LT(Of[I], (*T)->blocks().size()) << At;
    }
    for (size_t N = 0; N < (*T)->blocks().size(); ++N) {
      auto B = (*T)->readBlock(N);
      if (!B) {
        consumeError(B.takeError());
        continue;
      }
      ASSERT_EQ((*T)->blocks()[N].First, Run.Blocks[N].First) << At;
      for (uint32_t Thread : pieces::snapshotThreads(B->Events))
        ASSERT_TRUE((*T)->blocksOf(Thread).contains(N)) << At;
      ASSERT_EQ(B->Symbols, Run.Blocks[N].Symbols) << At;
      ASSERT_EQ(B->Instructions, Run.Blocks[N].Instructions) << At;
    }
  }
}

} // namespace
