// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state at any moment, asked for in any order and from several threads,
// with any amount of memory.

#include "query/state/StateCache.h"
#include "CountingRun.h"
#include "llvm/Support/raw_ostream.h"
#include <random>

using namespace chronicle;
using namespace llvm;

namespace {

class StateCacheTest : public CountingRunTest {
protected:
  void SetUp() override {
    CountingRunTest::SetUp();
    // Blocks have several checkpoints; the mapping must hold 8 bytes per
    // execution.
    Run.Blocks = 6;
    Run.PerBlock = 20000;
  }
  std::unique_ptr<file::TraceReader> open() {
    record(Run);
    if (HasFatalFailure())
      return nullptr;
    auto Reader = file::TraceReader::open(Path);
    EXPECT_TRUE(bool(Reader)) << toString(Reader.takeError());
    return Reader ? std::move(*Reader) : nullptr;
  }

  /// Compares the state at T with what the counting program has then. Returns
  /// what is wrong, or "".
  static std::string wrongAt(state::StateCache &Cache, Timestamp T) {
    Expected<state::StateCursor> C = Cache.at(T);
    if (!C)
      return toString(C.takeError());
    return wrongIn(*C, T);
  }
  static std::string wrongIn(state::StateCursor &C, Timestamp T) {
    std::string Wrong;
    raw_string_ostream Out(Wrong);
    if (C.time() != T)
      Out << "time " << C.time();
    const uint8_t *State = C.replayer().state(1);
    if (!State)
      return "no state";
    auto Word = [&](unsigned Offset, uint64_t Expected) {
      uint64_t Value = operations::loadValue<uint64_t>(State + Offset);
      if (Value != Expected)
        Out << " register " << Offset << " is " << Value << ", not "
            << Expected;
    };
    Word(CH_OFFSET_RAX, 3 + T / 3);
    Word(CH_OFFSET_RBX, 0x100004 + 8 * ((T + 1) / 3));
    if (T % 3)
      Word(CH_OFFSET_RIP, 0x1000 + 4 * (T % 3));
    // Memory holds the numbers stored so far, and nothing behind them.
    const uint64_t Stored = (T + 2) / 3;
    for (uint64_t K : {uint64_t(0), Stored / 2, Stored - 1, Stored}) {
      if (K > Stored || (T == 0 && K))
        continue;
      uint8_t Bytes[8];
      if (Error E = C.read(0x100004 + 8 * K, Bytes))
        return toString(std::move(E));
      const uint64_t Value = operations::loadValue<uint64_t>(Bytes);
      if (Value != (K < Stored ? 3 + K : 0))
        Out << " number " << K << " is " << Value;
    }
    return Wrong;
  }

  CountingRun Run;
};

TEST_F(StateCacheTest, AnyMomentInAnyOrder) {
  auto Reader = open();
  ASSERT_TRUE(Reader);
  state::StateCache Cache(*Reader, 64 << 20);
  ASSERT_EQ(Reader->instructions(), 6u * 20000 * 3);
  std::mt19937_64 Random(1);
  for (unsigned I = 0; I < 400; ++I) {
    const Timestamp T = Random() % Reader->instructions();
    EXPECT_EQ(wrongAt(Cache, T), "") << T;
  }
  // Goes backward, instruction by instruction, across the start of a block.
  const Timestamp Border = Reader->blocks()[3].First;
  for (Timestamp T = Border + 40; T > Border - 40; --T)
    EXPECT_EQ(wrongAt(Cache, T), "") << T;
}

TEST_F(StateCacheTest, MakesCheckpointsAndUsesThem) {
  auto Reader = open();
  ASSERT_TRUE(Reader);
  state::StateCache Cache(*Reader, 64 << 20);
  auto History = Cache.history(2);
  ASSERT_TRUE(bool(History)) << toString(History.takeError());
  EXPECT_EQ((*History)->checkpoints(), 1u);
  EXPECT_FALSE((*History)->complete());
  {
    ASSERT_TRUE(bool(Cache.in(2, ~Timestamp(0))));
  }
  EXPECT_TRUE((*History)->complete());
  // There is one every 25,000 of 60,000 instructions, and one at the end of the
  // block.
  ASSERT_EQ((*History)->checkpoints(), 4u);
  for (size_t I = 0; I < 4; ++I) {
    auto C = Cache.atCheckpoint(*History, I);
    ASSERT_TRUE(bool(C)) << toString(C.takeError());
    EXPECT_EQ(C->time(), (*History)->checkpoint(I).Position.Time);
    ASSERT_FALSE(bool(C->runTo(C->time() + (I < 3 ? 100 : 0))));
    if (I < 3) {
      EXPECT_EQ(wrongIn(*C, C->time()), "") << I;
    }
  }
  EXPECT_EQ((*History)->checkpointBefore((*History)->block().First), 0u);
  EXPECT_EQ((*History)->checkpointBefore((*History)->endTime()), 3u);
}

TEST_F(StateCacheTest, KeepsToItsBudget) {
  auto Reader = open();
  ASSERT_TRUE(Reader);
  std::mt19937_64 Random(2);
  auto Most = [&](uint64_t Budget) {
    state::StateCache Cache(*Reader, Budget);
    uint64_t Most = 0;
    for (unsigned I = 0; I < 60; ++I) {
      const Timestamp T = Random() % Reader->instructions();
      EXPECT_EQ(wrongAt(Cache, T), "") << T;
      Most = std::max(Most, Cache.bytes());
    }
    return Most;
  };
  const uint64_t Least = Most(0); // a replay and the block it needs
  EXPECT_GT(Least, 0u);
  const uint64_t All = Most(1 << 30);
  EXPECT_GT(All, 3 * Least);
  const uint64_t Budget = (Least + All) / 2;
  EXPECT_LE(Most(Budget), Budget + Least);
}

TEST_F(StateCacheTest, SeveralThreadsAtOnce) {
  auto Reader = open();
  ASSERT_TRUE(Reader);
  for (uint64_t Budget : {uint64_t(1), uint64_t(2) << 20, uint64_t(1) << 30}) {
    state::StateCache Cache(*Reader, Budget);
    std::vector<std::string> Problems(4);
    std::vector<std::thread> Threads;
    for (unsigned Number = 0; Number < Problems.size(); ++Number)
      Threads.emplace_back([&, Number] {
        std::mt19937_64 Random(Number);
        for (unsigned I = 0; I < 60 && Problems[Number].empty(); ++I)
          Problems[Number] = wrongAt(Cache, Random() % Reader->instructions());
      });
    for (std::thread &T : Threads)
      T.join();
    for (const std::string &P : Problems)
      EXPECT_EQ(P, "") << Budget;
  }
}

TEST_F(StateCacheTest, SaysWhereReplayIsWrongAndGoesOn) {
  Run.WrongOrdinalIn = 3;
  auto Reader = open();
  ASSERT_TRUE(Reader);
  state::StateCache Cache(*Reader, 64 << 20);
  const Timestamp Bad = Reader->blocks()[3].First + 30000;
  for (unsigned Again = 0; Again < 2; ++Again) {
    const std::string Wrong = wrongAt(Cache, Bad);
    EXPECT_NE(Wrong.find("replay of block 3 leaves the recorded run"),
              std::string::npos)
        << Wrong;
    EXPECT_NE(Wrong.find("chronicle verify"), std::string::npos) << Wrong;
    EXPECT_EQ(wrongAt(Cache, Reader->blocks()[2].First + 30000), "");
  }
  const std::string Beyond = wrongAt(Cache, Reader->instructions() + 1);
  EXPECT_NE(Beyond.find("the run ends at"), std::string::npos) << Beyond;
}

} // namespace
