// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Traces that are right, and traces that are wrong in one place each: the
// verifier must tell them apart and name the place.

#include "query/Verifier.h"
#include "ProgramWriter.h"
#include "StreamBuilder.h"
#include "indexer/Indexer.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <fcntl.h>
#include <thread>
#include <unistd.h>

using namespace chronicle;
using namespace llvm;

namespace {

/// What a recorder would send of a program that counts: one superblock at
/// 0x1000, "store RAX at RBX; RBX += 8; RAX += 1", over and over.
struct FakeRun {
  unsigned Blocks = 40, PerBlock = 30;
  // What goes wrong, where.
  unsigned WrongValueIn = ~0u, WrongAddressIn = ~0u, WrongSnapshotIn = ~0u,
           LostStoreIn = ~0u, WrongOrdinalIn = ~0u;
  bool WrongFinalSnapshot = false, NoEnd = false;
  std::string EndReason = "killed"; ///< without a record of the end
};

class VerifierTest : public testing::Test {
protected:
  void SetUp() override {
    SmallString<128> Name;
    ASSERT_FALSE(sys::fs::createTemporaryFile("verifier-test", "db", Name));
    Path = Name.str().str();
  }
  void TearDown() override { sys::fs::remove(Path); }

  void record(const FakeRun &Run) {
    RingBuilder Ring;
    IndexerOptions O;
    O.Path = Path;
    O.Overwrite = true;
    O.Run = json::Object{{"program", "/bin/test"}};
    auto Index = Indexer::create(std::move(O), Ring.memory(), Ring.bytes());
    ASSERT_TRUE(bool(Index)) << toString(Index.takeError());
    std::thread Thread([&] { (*Index)->run(); });
    send(Ring, Run);
    if (Run.NoEnd)
      (*Index)->recorderGone();
    Thread.join();
    EndInfo Info;
    Info.Reason = Run.EndReason;
    Expected<IndexSummary> S = (*Index)->finish(Info);
    ASSERT_TRUE(bool(S)) << toString(S.takeError());
  }

  void send(RingBuilder &Ring, const FakeRun &Run) {
    ProgramWriter W(0x1000);
    W.instruction(4);
    ProgramWriter::Value Rax = W.get(CH_I64, CH_OFFSET_RAX),
                         Rbx = W.get(CH_I64, CH_OFFSET_RBX);
    W.store(Rbx, Rax);
    W.exit(
        W.operation("CmpEQ64", {Rax, ProgramWriter::constant(CH_I64, 1000000)}),
        0x9000);
    W.instruction(4);
    W.put(CH_OFFSET_RBX,
          W.operation("Add64", {Rbx, ProgramWriter::constant(CH_I64, 8)}));
    W.instruction(4);
    W.put(CH_OFFSET_RAX,
          W.operation("Add64", {Rax, ProgramWriter::constant(CH_I64, 1)}));
    Ring.define(1, W.finish(ProgramWriter::constant(CH_I64, 0x1000)));
    ch_ev_map Map = {};
    Map.address = 0x100000;
    Map.length = 0x100000;
    Ring.event(CH_EV_MAP, Map);
    Ring.publish(CH_CHUNK_BLOCK_END);

    GuestState State{};
    auto Word = [&](uint32_t Offset, uint64_t Value) {
      storeValue(State.data() + Offset, Value);
    };
    uint64_t Rip = 0x1000, Count = 3, Address = 0x100004;
    for (unsigned Block = 1; Block <= Run.Blocks; ++Block) {
      Word(CH_OFFSET_RIP, Rip);
      Word(CH_OFFSET_RAX, Count);
      Word(CH_OFFSET_RBX, Address);
      Word(CH_OFFSET_CC_OP, Run.WrongSnapshotIn <= Block);
      Ring.event(CH_EV_SNAPSHOT, ch_ev_snapshot{1, 0}, State);
      Ring.event(CH_EV_RESUME, ch_ev_thread{1, 0});
      for (unsigned I = 0; I < Run.PerBlock; ++I) {
        const bool Here = I == 7;
        Ring.execute(1, Here && Run.WrongOrdinalIn == Block ? 1 : 2);
        uint64_t At = Address, Value = Count;
        if (Here && Run.WrongValueIn == Block)
          Value += 1000;
        if (Here && Run.WrongAddressIn == Block)
          At += 0x20000;
        if (Here && Run.LostStoreIn == Block)
          At = 0x170000; // somewhere that replay does not write
        Ring.slot(At, Value);
        Address += 8;
        ++Count;
      }
      if (Block < Run.Blocks)
        Ring.publish(CH_CHUNK_BLOCK_END);
    }
    if (Run.NoEnd) {
      Ring.publish(CH_CHUNK_BLOCK_END);
      Ring.die();
      return;
    }
    Word(CH_OFFSET_RAX, Count + Run.WrongFinalSnapshot);
    Word(CH_OFFSET_RBX, Address);
    Ring.event(CH_EV_SNAPSHOT, ch_ev_snapshot{1, 0}, State);
    Ring.event(CH_EV_END, ch_ev_end{CH_END_EXIT, 0});
    Ring.publish(CH_CHUNK_BLOCK_END | CH_CHUNK_LAST);
  }

  VerifyReport verify(const FakeRun &Run, unsigned Threads = 2) {
    record(Run);
    if (HasFatalFailure())
      return VerifyReport();
    auto Trace = TraceReader::open(Path);
    if (!Trace) {
      ADD_FAILURE() << toString(Trace.takeError());
      return VerifyReport();
    }
    VerifyOptions Options;
    Options.Threads = Threads;
    return verifyTrace(**Trace, Options);
  }

  void expectOnly(const VerifyReport &R, BlockNumber Block, StringRef Part) {
    EXPECT_FALSE(R.clean());
    ASSERT_FALSE(R.Mismatches.empty());
    EXPECT_EQ(R.Mismatches[0].Block, Block);
    bool Found = false;
    std::string All;
    for (const Mismatch &M : R.Mismatches) {
      Found |= M.What.find(Part.str()) != std::string::npos;
      All += M.What + "\n";
    }
    EXPECT_TRUE(Found) << All;
  }

  std::string Path;
};

TEST_F(VerifierTest, PassesWhatIsRight) {
  for (unsigned Threads : {1u, 2u, 3u}) {
    VerifyReport R = verify(FakeRun(), Threads);
    EXPECT_TRUE(R.clean()) << R.MismatchCount << R.Incomplete;
    EXPECT_EQ(R.Instructions, 40u * 30 * 3);
    EXPECT_EQ(R.Blocks, 41u);
    // 39 from block to block; the last is compared inside its block.
    EXPECT_EQ(R.ComparedSnapshots, 39u);
    EXPECT_GE(R.ComparedGranules, 40u * 31);
  }
}

TEST_F(VerifierTest, FindsAWrongValue) {
  FakeRun Run;
  Run.WrongValueIn = 25;
  // The store's upper half lies in the next granule, so this one is odd.
  expectOnly(verify(Run), 25, "recorded");
}

TEST_F(VerifierTest, FindsAWrongAddress) {
  FakeRun Run;
  Run.WrongAddressIn = 9;
  expectOnly(verify(Run), 9, "was written by the recorded run, not by replay");
}

TEST_F(VerifierTest, FindsAWriteThatReplayDoesNotMake) {
  FakeRun Run;
  Run.LostStoreIn = 12;
  expectOnly(verify(Run), 12,
             "memory at 0x170000 was written by the recorded "
             "run, not by replay");
}

TEST_F(VerifierTest, FindsAWrongSnapshot) {
  for (unsigned Threads : {1u, 2u}) {
    // Wherever the ranges of the workers end.
    for (unsigned Block : {2u, 20u, 21u, 22u, 40u}) {
      FakeRun Run;
      Run.WrongSnapshotIn = Block;
      VerifyReport R = verify(Run, Threads);
      expectOnly(R, Block - 1, "CC_OP is 0x0, recorded 0x1");
      EXPECT_EQ(R.MismatchCount, 1u);
    }
  }
}

TEST_F(VerifierTest, FindsAWrongLastSnapshot) {
  FakeRun Run;
  Run.WrongFinalSnapshot = true;
  expectOnly(verify(Run), 40, "thread 1: RAX is");
}

TEST_F(VerifierTest, FindsAWrongExit) {
  FakeRun Run;
  Run.WrongOrdinalIn = 30;
  VerifyReport R = verify(Run);
  expectOnly(R, 30, "left by exit 2, in the recorded run by 1");
  // What comes after is judged by itself.
  EXPECT_EQ(R.MismatchCount, 1u);
}

TEST_F(VerifierTest, GoesOnAfterABlockItCannotRead) {
  FakeRun Run;
  record(Run);
  uint64_t Offset = 0;
  {
    auto Trace = TraceReader::open(Path);
    ASSERT_TRUE(bool(Trace)) << toString(Trace.takeError());
    Offset = (*Trace)->blocks()[5].Offset;
  }
  int File = ::open(Path.c_str(), O_RDWR);
  ASSERT_GE(File, 0);
  uint8_t Byte = 0;
  ASSERT_EQ(::pread(File, &Byte, 1, Offset + PieceHeaderSize + 8), 1);
  Byte ^= 0x10;
  ASSERT_EQ(::pwrite(File, &Byte, 1, Offset + PieceHeaderSize + 8), 1);
  ::close(File);
  for (unsigned Threads : {1u, 3u}) {
    auto Trace = TraceReader::open(Path);
    ASSERT_TRUE(bool(Trace)) << toString(Trace.takeError());
    VerifyOptions Options;
    Options.Threads = Threads;
    VerifyReport R = verifyTrace(**Trace, Options);
    EXPECT_EQ(R.MismatchCount, 1u);
    ASSERT_EQ(R.Mismatches.size(), 1u);
    EXPECT_EQ(R.Mismatches[0].Block, 5u);
    EXPECT_EQ(R.Blocks, 40u);
  }
}

TEST_F(VerifierTest, ARunThatWasKilledIsWhole) {
  FakeRun Run;
  Run.NoEnd = true;
  VerifyReport R = verify(Run);
  EXPECT_EQ(R.Instructions, 40u * 30 * 3);
  EXPECT_TRUE(R.clean()) << R.MismatchCount << R.Incomplete;
}

// Otherwise what the recorder lost at the end would pass for a clean run.
TEST_F(VerifierTest, ARunThatExitedMustSaySoItself) {
  FakeRun Run;
  Run.NoEnd = true;
  Run.EndReason = "exit";
  VerifyReport R = verify(Run);
  EXPECT_EQ(R.MismatchCount, 0u);
  EXPECT_EQ(R.Incomplete, "its last events are missing");
  EXPECT_FALSE(R.clean());
}

// With no memory at all every block starts from the trace's pages, and nothing
// is missed.
TEST_F(VerifierTest, GivesUpPagesWhenTheyAreTooMany) {
  FakeRun Right, Wrong;
  Wrong.WrongValueIn = 25;
  for (const FakeRun &Run : {Right, Wrong}) {
    VerifyReport Unlimited = verify(Run);
    EXPECT_EQ(Unlimited.MemoryResets, 0u);
    auto Trace = TraceReader::open(Path);
    ASSERT_TRUE(bool(Trace)) << toString(Trace.takeError());
    VerifyOptions Options;
    Options.Threads = 2;
    Options.MemoryBytes = 0;
    VerifyReport R = verifyTrace(**Trace, Options);
    EXPECT_GT(R.MemoryResets, 30u);
    EXPECT_EQ(R.MismatchCount, Unlimited.MismatchCount);
    EXPECT_EQ(R.ComparedGranules, Unlimited.ComparedGranules);
    EXPECT_EQ(R.ComparedSnapshots, Unlimited.ComparedSnapshots);
    for (size_t I = 0; I < Unlimited.Mismatches.size(); ++I)
      EXPECT_EQ(R.Mismatches[I].What, Unlimited.Mismatches[I].What);
  }
}

TEST_F(VerifierTest, KeepsAsManyMismatchesAsAsked) {
  FakeRun Run;
  Run.WrongValueIn = 3;
  Run.WrongFinalSnapshot = true;
  record(Run);
  auto Trace = TraceReader::open(Path);
  ASSERT_TRUE(bool(Trace)) << toString(Trace.takeError());
  VerifyOptions Options;
  Options.MaxMismatches = 1;
  VerifyReport R = verifyTrace(**Trace, Options);
  EXPECT_EQ(R.Mismatches.size(), 1u);
  EXPECT_EQ(R.MismatchCount, 2u);
}

} // namespace
