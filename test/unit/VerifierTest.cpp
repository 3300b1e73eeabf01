// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Traces that are right, and traces that are wrong in one place each: the
// verifier must tell them apart and name the place.

#include "query/Verifier.h"
#include "CountingRun.h"
#include <fcntl.h>
#include <unistd.h>

using namespace chronicle;
using namespace llvm;

namespace {

class VerifierTest : public CountingRunTest {
protected:
  VerifyReport verify(const CountingRun &Run, unsigned Threads = 2) {
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
};

TEST_F(VerifierTest, PassesWhatIsRight) {
  for (unsigned Threads : {1u, 2u, 3u}) {
    VerifyReport R = verify(CountingRun(), Threads);
    EXPECT_TRUE(R.clean()) << R.MismatchCount << R.Incomplete;
    EXPECT_EQ(R.Instructions, 40u * 30 * 3);
    EXPECT_EQ(R.Blocks, 41u);
    EXPECT_EQ(R.InterpretedBlocks, 6u);
    // 39 from block to block; the last is compared inside its block.
    EXPECT_EQ(R.ComparedSnapshots, 39u);
    EXPECT_GE(R.ComparedGranules, 40u * 31);
  }
}

TEST_F(VerifierTest, FindsAWrongValue) {
  CountingRun Run;
  Run.WrongValueIn = 25;
  // The store's upper half lies in the next granule, so this one is odd.
  expectOnly(verify(Run), 25, "recorded");
}

TEST_F(VerifierTest, FindsAWrongAddress) {
  CountingRun Run;
  Run.WrongAddressIn = 9;
  expectOnly(verify(Run), 9, "was written by the recorded run, not by replay");
}

TEST_F(VerifierTest, FindsAWriteThatReplayDoesNotMake) {
  CountingRun Run;
  Run.LostStoreIn = 12;
  expectOnly(verify(Run), 12,
             "memory at 0x170000 was written by the recorded "
             "run, not by replay");
}

TEST_F(VerifierTest, FindsAWrongSnapshot) {
  for (unsigned Threads : {1u, 2u}) {
    // Wherever the ranges of the workers end.
    for (unsigned Block : {2u, 20u, 21u, 22u, 40u}) {
      CountingRun Run;
      Run.WrongSnapshotIn = Block;
      VerifyReport R = verify(Run, Threads);
      expectOnly(R, Block - 1, "CC_OP is 0x0, recorded 0x1");
      EXPECT_EQ(R.MismatchCount, 1u);
    }
  }
}

TEST_F(VerifierTest, FindsAWrongLastSnapshot) {
  CountingRun Run;
  Run.WrongFinalSnapshot = true;
  expectOnly(verify(Run), 40, "thread 1: RAX is");
}

TEST_F(VerifierTest, FindsAWrongExit) {
  CountingRun Run;
  Run.WrongOrdinalIn = 30;
  VerifyReport R = verify(Run);
  expectOnly(R, 30, "left by exit 2, in the recorded run by 1");
  // What comes after is judged by itself.
  EXPECT_EQ(R.MismatchCount, 1u);
}

TEST_F(VerifierTest, GoesOnAfterABlockItCannotRead) {
  CountingRun Run;
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
  CountingRun Run;
  Run.NoEnd = true;
  VerifyReport R = verify(Run);
  EXPECT_EQ(R.Instructions, 40u * 30 * 3);
  EXPECT_TRUE(R.clean()) << R.MismatchCount << R.Incomplete;
}

// Otherwise what the recorder lost at the end would pass for a clean run.
TEST_F(VerifierTest, ARunThatExitedMustSaySoItself) {
  CountingRun Run;
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
  CountingRun Right, Wrong;
  Wrong.WrongValueIn = 25;
  for (const CountingRun &Run : {Right, Wrong}) {
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
  CountingRun Run;
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
