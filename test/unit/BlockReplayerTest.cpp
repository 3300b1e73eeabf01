// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/replay/BlockReplayer.h"
#include "test/support/ProgramWriter.h"
#include "test/support/RingBuilder.h"
#include "gtest/gtest.h"

using namespace chronicle;
using namespace llvm;

namespace {

using Value = ProgramWriter::Value;

struct NoPages : machine::PageSource {
  Expected<bool> readFrame(FrameNumber, BlockNumber, uint8_t *) override {
    return false;
  }
  void visitFrames(FrameNumber, FrameNumber,
                   function_ref<void(FrameNumber)>) override {}
};

Value constant(uint64_t N) { return ProgramWriter::constant(CH_I64, N); }

/// A block made by hand, of these superblocks:
/// - 1 at 0x1000 has three instructions of 4 bytes: store RAX at RBX;
///   RAX += [RCX]; RAX += 1. It leaves by exit 1 before the third one if RAX is
///   100, and for RDX at its end.
/// - 2 at 0x2000 has one instruction, RAX = an opaque value, and leaves for
///   0x1000.
/// - 3 at 0x3000 is a locked addition of 1 to [RCX]: a load and a
///   compare-and-swap. It leaves by exit 1 for itself if the swap failed.
class BlockReplayerTest : public testing::Test {
protected:
  BlockReplayerTest()
      : Exits(ArrayRef<uint32_t>({0, 2, 1, 2})),
        Programs(
            4,
            [this](uint32_t Id) { return ArrayRef<uint8_t>(Definitions[Id]); }),
        Memory(new machine::ReplayMemory(Pages, 0)),
        Replayer(new replay::BlockReplayer(*Memory, Programs, Exits)) {
    ProgramWriter One(0x1000);
    One.instruction(4);
    Value Rax = One.get(CH_I64, CH_OFFSET_RAX);
    One.store(One.get(CH_I64, CH_OFFSET_RBX), Rax);
    One.instruction(4);
    Value Sum = One.operation(
        "Add64", {Rax, One.load(CH_I64, One.get(CH_I64, CH_OFFSET_RCX))});
    One.put(CH_OFFSET_RAX, Sum);
    One.exit(One.operation("CmpEQ64", {Sum, constant(100)}), 0x5000);
    One.instruction(4);
    One.put(CH_OFFSET_RAX, One.operation("Add64", {Sum, constant(1)}));
    Definitions[1] = One.finish(One.get(CH_I64, CH_OFFSET_RDX));
    ProgramWriter Two(0x2000);
    Two.instruction(5);
    Two.put(CH_OFFSET_RAX, Two.opaque(CH_I64));
    Definitions[2] = Two.finish(constant(0x1000));
    ProgramWriter Three(0x3000);
    Three.instruction(4);
    Value At = Three.get(CH_I64, CH_OFFSET_RCX);
    Value Expected = Three.load(CH_I64, At);
    Value Old = Three.cas(CH_I64, At, Expected,
                          Three.operation("Add64", {Expected, constant(1)}));
    Three.exit(Three.operation("CmpNE64", {Old, Expected}), 0x3000);
    Definitions[3] = Three.finish(constant(0x1000));

    B.Number = 7;
    B.First = 1000;
    Replayer->OnMismatch = [this](const replay::Mismatch &M) {
      Mismatches.push_back(M);
    };
  }

  // Symbols 0 and 1: superblock 1 left by exit 1 and 2. Symbol 2: superblock 2.
  // Symbols 3 and 4: superblock 3 left by exit 1 and 2.
  enum { OneByExit, OneToEnd, Two, ThreeAgain, ThreeToEnd };

  template <class T>
  void event(uint32_t Kind, const T &Fixed, ArrayRef<uint8_t> More = {}) {
    Payloads.push_back(RingBuilder::payload(Fixed, More));
    B.Events.push_back({B.Symbols.size(), Kind, {}});
  }
  void run(std::initializer_list<uint32_t> Symbols) {
    B.Symbols.insert(B.Symbols.end(), Symbols);
  }
  replay::GuestState state(uint64_t Rip, uint64_t Rax) {
    replay::GuestState S{};
    operations::storeValue(S.data() + CH_OFFSET_RIP, Rip);
    operations::storeValue(S.data() + CH_OFFSET_RAX, Rax);
    operations::storeValue<uint64_t>(S.data() + CH_OFFSET_RBX, 0x10ffc);
    operations::storeValue<uint64_t>(S.data() + CH_OFFSET_RCX, 0x20000);
    operations::storeValue<uint64_t>(S.data() + CH_OFFSET_RDX, 0x1000);
    return S;
  }
  void begin(uint32_t Thread, uint64_t Rip, uint64_t Rax) {
    event(CH_EV_SNAPSHOT, ch_ev_snapshot{Thread, 0}, state(Rip, Rax));
    event(CH_EV_RESUME, ch_ev_thread{Thread, 0});
  }
  void start() {
    for (size_t I = 0; I < B.Events.size(); ++I)
      B.Events[I].Payload = Payloads[I];
    B.Opaque = Opaque;
    Replayer->start(B);
  }
  uint64_t reg(uint32_t Thread, uint32_t Offset) {
    const uint8_t *S = Replayer->state(Thread);
    return S ? operations::loadValue<uint64_t>(S + Offset) : ~uint64_t(0);
  }
  void expectMismatch(StringRef Part) {
    start();
    EXPECT_FALSE(Replayer->runToEnd());
    ASSERT_EQ(Mismatches.size(), 1u);
    EXPECT_NE(Mismatches[0].What.find(Part.str()), std::string::npos)
        << Mismatches[0].What;
    EXPECT_EQ(Mismatches[0].Block, 7u);
  }

  SmallVector<uint8_t, 0> Definitions[4];
  replay::ExitTable Exits;
  program::ProgramCache Programs;
  NoPages Pages;
  std::unique_ptr<machine::ReplayMemory> Memory;
  std::unique_ptr<replay::BlockReplayer> Replayer;
  Block B;
  std::vector<std::vector<uint8_t>> Payloads;
  std::vector<uint8_t> Opaque;
  std::vector<replay::Mismatch> Mismatches;
};

TEST_F(BlockReplayerTest, RunsTheSequence) {
  begin(1, 0x1000, 5);
  run({OneToEnd, OneToEnd});
  start();
  ASSERT_TRUE(Replayer->runToEnd());
  EXPECT_TRUE(Mismatches.empty());
  EXPECT_EQ(reg(1, CH_OFFSET_RAX), 7u);
  EXPECT_EQ(reg(1, CH_OFFSET_RIP), 0x1000u);
  EXPECT_EQ(Replayer->time(), 1006u);
  // The second store crosses the end of a page.
  EXPECT_EQ(Memory->load<uint64_t>(0x10ffc), 6u);
  EXPECT_EQ(Memory->dirtyFrames().size(), 2u);
}

TEST_F(BlockReplayerTest, StopsAtEveryTimestamp) {
  begin(1, 0x1000, 5);
  run({OneToEnd, OneToEnd});
  const uint64_t Rax[] = {5, 5, 5, 6, 6, 6, 7};
  const uint64_t Rip[] = {0x1000, 0x1004, 0x1008, 0x1000,
                          0x1004, 0x1008, 0x1000};
  const uint64_t Stored[] = {0, 5, 5, 5, 6, 6, 6};
  // Goes step by step, and to each moment from the start.
  for (bool Again : {false, true}) {
    start();
    for (unsigned T = 0; T <= 6; ++T) {
      if (Again) {
        Memory = std::make_unique<machine::ReplayMemory>(Pages, 0);
        Replayer =
            std::make_unique<replay::BlockReplayer>(*Memory, Programs, Exits);
        start();
      } else if (T == 0) {
        Memory->store<uint64_t>(0x10ffc, 0);
      }
      ASSERT_TRUE(Replayer->runTo(1000 + T));
      EXPECT_EQ(Replayer->time(), 1000 + T);
      EXPECT_EQ(reg(1, CH_OFFSET_RAX), Rax[T]) << T;
      EXPECT_EQ(reg(1, CH_OFFSET_RIP), Rip[T]) << T;
      EXPECT_EQ(Memory->load<uint64_t>(0x10ffc), Stored[T]) << T;
    }
  }
}

TEST_F(BlockReplayerTest, UsesOpaqueBytes) {
  begin(1, 0x2000, 0);
  run({Two, OneToEnd});
  Opaque = {0x2a, 0, 0, 0, 0, 0, 0, 0};
  start();
  ASSERT_TRUE(Replayer->runToEnd());
  EXPECT_EQ(reg(1, CH_OFFSET_RAX), 43u);
  EXPECT_EQ(Replayer->opaqueLeft(), 0u);
}

TEST_F(BlockReplayerTest, MissesOpaqueBytes) {
  begin(1, 0x2000, 0);
  run({Two, OneToEnd});
  Opaque = {0x2a};
  expectMismatch("too few opaque bytes");
}

TEST_F(BlockReplayerTest, AppliesEventsWhereTheyHappened) {
  begin(1, 0x1000, 5);
  run({OneToEnd});
  const uint8_t Ten[8] = {10};
  event(CH_EV_MEMORY,
        ch_ev_memory{0x20000, sizeof(Ten), 1, CH_MEM_SYSCALL, 0, 0}, Ten);
  std::vector<uint8_t> Words(16);
  operations::storeValue<uint64_t>(Words.data(), CH_OFFSET_RAX);
  operations::storeValue<uint64_t>(Words.data() + 8, 30);
  event(CH_EV_REGISTERS, ch_ev_registers{1, 1}, Words);
  run({OneToEnd});
  event(CH_EV_MEMORY,
        ch_ev_memory{0x20000, 8, 1, CH_MEM_SYSCALL, CH_MEM_ZERO, 0});
  start();
  ASSERT_TRUE(Replayer->runTo(1003));
  // Events between two instructions have happened before the second one.
  EXPECT_EQ(reg(1, CH_OFFSET_RAX), 30u);
  ASSERT_TRUE(Replayer->runToEnd());
  EXPECT_EQ(reg(1, CH_OFFSET_RAX), 41u);
  EXPECT_EQ(Memory->load<uint64_t>(0x20000), 0u);
}

TEST_F(BlockReplayerTest, StopsBeforeAFaultingInstruction) {
  begin(1, 0x1000, 5);
  run({OneByExit}); // how a fault is coded
  event(CH_EV_FAULT, ch_ev_fault{1, 0, 0x1004});
  std::vector<uint8_t> Words(16);
  operations::storeValue<uint64_t>(Words.data(), CH_OFFSET_RIP);
  operations::storeValue<uint64_t>(Words.data() + 8, 0x2000);
  event(CH_EV_REGISTERS, ch_ev_registers{1, 1}, Words);
  run({Two});
  Opaque.assign(8, 0);
  start();
  ASSERT_TRUE(Replayer->runTo(1001));
  EXPECT_EQ(Memory->load<uint64_t>(0x10ffc), 5u);
  EXPECT_EQ(reg(1, CH_OFFSET_RAX), 5u);
  ASSERT_TRUE(Replayer->runToEnd());
  EXPECT_TRUE(Mismatches.empty());
  EXPECT_EQ(Replayer->time(), 1002u);
  EXPECT_EQ(reg(1, CH_OFFSET_RIP), 0x1000u);
}

TEST_F(BlockReplayerTest, RefusesAFaultElsewhere) {
  begin(1, 0x1000, 5);
  run({OneByExit});
  event(CH_EV_FAULT, ch_ev_fault{1, 0, 0x3000});
  expectMismatch("0x3000");
}

TEST_F(BlockReplayerTest, LetsOthersWriteInTheMiddle) {
  begin(1, 0x1000, 5);
  const uint8_t Fifty[8] = {50};
  event(CH_EV_OUTSIDE_WRITE,
        ch_ev_outside_write{0x20000, sizeof(Fifty), CH_FOUND_BY_LOAD, 1, 0},
        Fifty);
  run({OneToEnd});
  start();
  ASSERT_TRUE(Replayer->runTo(1001));
  EXPECT_EQ(Memory->load<uint64_t>(0x20000), 50u);
  ASSERT_TRUE(Replayer->runToEnd());
  EXPECT_TRUE(Mismatches.empty());
  EXPECT_EQ(reg(1, CH_OFFSET_RAX), 56u);
}

TEST_F(BlockReplayerTest, LetsOthersWriteBeforeASwap) {
  begin(1, 0x3000, 5);
  const uint8_t Fifty[8] = {50};
  event(CH_EV_OUTSIDE_WRITE,
        ch_ev_outside_write{0x20000, sizeof(Fifty), CH_FOUND_BY_LOAD, 0,
                            CH_OUTSIDE_BEFORE_SWAP},
        Fifty);
  run({ThreeAgain, ThreeToEnd});
  start();
  std::vector<Timestamp> Times;
  Replayer->OnEvent = [&](const Event &E, Timestamp T) {
    if (E.Kind == CH_EV_OUTSIDE_WRITE)
      Times.push_back(T);
  };
  ASSERT_TRUE(Replayer->runToEnd());
  EXPECT_TRUE(Mismatches.empty());
  EXPECT_EQ(Memory->load<uint64_t>(0x20000), 51u);
  EXPECT_EQ(Times, std::vector<Timestamp>{1000});
}

TEST_F(BlockReplayerTest, SwitchesThreads) {
  begin(1, 0x1000, 5);
  run({OneToEnd});
  begin(2, 0x1000, 50);
  run({OneToEnd});
  event(CH_EV_RESUME, ch_ev_thread{1, 0});
  run({OneToEnd});
  start();
  ASSERT_TRUE(Replayer->runToEnd());
  EXPECT_EQ(Replayer->threads(), (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(Replayer->thread(), 1u);
  EXPECT_EQ(reg(1, CH_OFFSET_RAX), 7u);
  EXPECT_EQ(reg(2, CH_OFFSET_RAX), 51u);
  EXPECT_EQ(Replayer->state(3), nullptr);
}

TEST_F(BlockReplayerTest, ComparesALaterSnapshot) {
  begin(1, 0x1000, 5);
  run({OneToEnd});
  event(CH_EV_SNAPSHOT, ch_ev_snapshot{1, 0}, state(0x1000, 6));
  event(CH_EV_SNAPSHOT, ch_ev_snapshot{1, 0}, state(0x1000, 9));
  start();
  EXPECT_TRUE(Replayer->runToEnd());
  ASSERT_EQ(Mismatches.size(), 1u);
  EXPECT_EQ(Mismatches[0].What, "thread 1: RAX is 0x6, recorded 0x9");
  EXPECT_EQ(Mismatches[0].Time, 1003u);
}

TEST_F(BlockReplayerTest, FindsAWrongExit) {
  begin(1, 0x1000, 100);
  run({OneToEnd});
  expectMismatch("left by exit 1, in the recorded run by 2");
}

TEST_F(BlockReplayerTest, FindsAWrongExitLater) {
  begin(1, 0x1000, 98);
  run({OneToEnd, OneToEnd, OneToEnd});
  expectMismatch("left by exit 1, in the recorded run by 2");
  EXPECT_EQ(Mismatches[0].Time, 1006u);
  EXPECT_EQ(Mismatches[0].Superblock, 1u);
  EXPECT_EQ(Mismatches[0].SuperblockAddress, 0x1000u);
}

TEST_F(BlockReplayerTest, FindsAWrongSuccessor) {
  begin(1, 0x1000, 5);
  run({OneToEnd, Two});
  expectMismatch("replay is at 0x1000, the recorded run at 0x2000");
}

TEST_F(BlockReplayerTest, RefusesNonsense) {
  begin(1, 0x1000, 5);
  run({99});
  expectMismatch("exit 99, but no superblock has that exit");
}

TEST_F(BlockReplayerTest, RefusesAnUnknownThread) {
  event(CH_EV_RESUME, ch_ev_thread{4, 0});
  run({OneToEnd});
  expectMismatch("thread 4 has no snapshot");
}

TEST_F(BlockReplayerTest, RefusesACutEvent) {
  begin(1, 0x1000, 5);
  event(CH_EV_MEMORY, ch_ev_memory{0x20000, 64, 1, CH_MEM_SYSCALL, 0, 0});
  expectMismatch("damaged event");
}

} // namespace
