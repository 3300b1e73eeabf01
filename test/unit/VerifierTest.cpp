// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verifier must accept correct traces, and name the place in traces that
// are wrong in one place each.

#include "query/Verifier.h"
#include "CountingRun.h"
#include <fcntl.h>
#include <unistd.h>

using namespace chronicle;
using namespace llvm;

namespace {

class VerifierTest : public CountingRunTest {
protected:
  query::VerifyReport verify(const CountingRun &Run, unsigned Threads = 2) {
    record(Run);
    if (HasFatalFailure())
      return query::VerifyReport();
    auto Trace = file::TraceReader::open(Path);
    if (!Trace) {
      ADD_FAILURE() << toString(Trace.takeError());
      return query::VerifyReport();
    }
    query::VerifyOptions Options;
    Options.Threads = Threads;
    return query::verifyTrace(**Trace, Options);
  }

  void expectOnly(const query::VerifyReport &R, BlockNumber Block,
                  StringRef Part) {
    EXPECT_FALSE(R.clean());
    ASSERT_FALSE(R.Mismatches.empty());
    EXPECT_EQ(R.Mismatches[0].Block, Block);
    bool Found = false;
    std::string All;
    for (const replay::Mismatch &M : R.Mismatches) {
      Found |= M.What.find(Part.str()) != std::string::npos;
      All += M.What + "\n";
    }
    EXPECT_TRUE(Found) << All;
  }
};

TEST_F(VerifierTest, PassesWhatIsRight) {
  for (unsigned Threads : {1u, 2u, 3u}) {
    query::VerifyReport R = verify(CountingRun(), Threads);
    EXPECT_TRUE(R.clean()) << R.MismatchCount << R.Incomplete;
    EXPECT_EQ(R.Instructions, 40u * 30 * 3);
    EXPECT_EQ(R.Blocks, 41u);
    EXPECT_EQ(R.InterpretedBlocks, 6u);
    // There are 39 from block to block; the last one is compared inside its
    // block.
    EXPECT_EQ(R.ComparedSnapshots, 39u);
    EXPECT_GE(R.ComparedGranules, 40u * 31);
  }
}

TEST_F(VerifierTest, FindsAWrongValue) {
  CountingRun Run;
  Run.WrongValueIn = 25;
  // The upper half of the store is in the next granule, so this number is odd.
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
    // It is found wherever the ranges of the workers end.
    for (unsigned Block : {2u, 20u, 21u, 22u, 40u}) {
      CountingRun Run;
      Run.WrongSnapshotIn = Block;
      query::VerifyReport R = verify(Run, Threads);
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
  query::VerifyReport R = verify(Run);
  expectOnly(R, 30, "left by exit 2, in the recorded run by 1");
  // The blocks after it are judged by themselves.
  EXPECT_EQ(R.MismatchCount, 1u);
}

TEST_F(VerifierTest, GoesOnAfterABlockItCannotRead) {
  CountingRun Run;
  record(Run);
  uint64_t Offset = 0;
  {
    auto Trace = file::TraceReader::open(Path);
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
    auto Trace = file::TraceReader::open(Path);
    ASSERT_TRUE(bool(Trace)) << toString(Trace.takeError());
    query::VerifyOptions Options;
    Options.Threads = Threads;
    query::VerifyReport R = query::verifyTrace(**Trace, Options);
    EXPECT_EQ(R.MismatchCount, 1u);
    ASSERT_EQ(R.Mismatches.size(), 1u);
    EXPECT_EQ(R.Mismatches[0].Block, 5u);
    EXPECT_EQ(R.Blocks, 40u);
  }
}

TEST_F(VerifierTest, ARunThatWasKilledIsWhole) {
  CountingRun Run;
  Run.NoEnd = true;
  query::VerifyReport R = verify(Run);
  EXPECT_EQ(R.Instructions, 40u * 30 * 3);
  EXPECT_TRUE(R.clean()) << R.MismatchCount << R.Incomplete;
}

// Otherwise a trace whose end the recorder lost would pass as clean.
TEST_F(VerifierTest, ARunThatExitedMustSaySoItself) {
  CountingRun Run;
  Run.NoEnd = true;
  Run.EndReason = "exit";
  query::VerifyReport R = verify(Run);
  EXPECT_EQ(R.MismatchCount, 0u);
  EXPECT_EQ(R.Incomplete, "its last events are missing");
  EXPECT_FALSE(R.clean());
}

// If it may keep no memory, every block starts with the pages of the trace, and
// no mismatch is missed.
TEST_F(VerifierTest, GivesUpPagesWhenTheyAreTooMany) {
  CountingRun Right, Wrong;
  Wrong.WrongValueIn = 25;
  for (const CountingRun &Run : {Right, Wrong}) {
    query::VerifyReport Unlimited = verify(Run);
    EXPECT_EQ(Unlimited.MemoryResets, 0u);
    auto Trace = file::TraceReader::open(Path);
    ASSERT_TRUE(bool(Trace)) << toString(Trace.takeError());
    query::VerifyOptions Options;
    Options.Threads = 2;
    Options.MemoryBytes = 0;
    query::VerifyReport R = query::verifyTrace(**Trace, Options);
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
  auto Trace = file::TraceReader::open(Path);
  ASSERT_TRUE(bool(Trace)) << toString(Trace.takeError());
  query::VerifyOptions Options;
  Options.MaxMismatches = 1;
  query::VerifyReport R = query::verifyTrace(**Trace, Options);
  EXPECT_EQ(R.Mismatches.size(), 1u);
  EXPECT_EQ(R.MismatchCount, 2u);
}

} // namespace
