// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Following calls by the stack pointer, and the bytes that calls and executions
// become. Whole programs are checked by test/query/calls.test.

#include "indexer/model/CallFollower.h"
#include "trace-format/GuestState.h"
#include "trace-format/Stream.h"
#include "trace-format/pieces/ExecutionFormat.h"
#include "gtest/gtest.h"
#include <array>
#include <map>
#include <numeric>
#include <random>
#include <set>

using namespace chronicle;
using namespace llvm;

namespace {

std::vector<Timestamp> entries(model::CallTracker &T) {
  std::vector<Timestamp> Result;
  for (const pieces::CallRecord &C : T.current().Calls)
    Result.push_back(C.Entry);
  return Result;
}
/// A superblock that moves the stack pointer.
void run(model::CallTracker &T, Timestamp When, int64_t By) {
  T.step(1, When);
  T.moved(T.stackPointer() + uint64_t(By));
}
void call(model::CallTracker &T, Timestamp When) {
  run(T, When, -8);
  T.call(1, When + 1);
}

TEST(CallTracker, CallsAndReturns) {
  model::CallTracker T(0x1000, 0);
  call(T, 0);
  EXPECT_EQ(T.limit(), 0u) << "the callee's first superblock is to come";
  run(T, 10, -0x20); // entered later than it was called
  EXPECT_EQ(entries(T), (std::vector<Timestamp>{0, 10}));
  EXPECT_EQ(T.current().Calls.back().Slot, 0xff8u);
  EXPECT_EQ(T.current().Calls.back().Callee, 1u);
  EXPECT_EQ(T.limit(), 0xff8u);
  call(T, 11);
  run(T, 12, 0);
  run(T, 13, 8); // return
  EXPECT_EQ(entries(T), (std::vector<Timestamp>{0, 10}));
  run(T, 14, 0x20); // the frame is gone, the return address not
  EXPECT_EQ(entries(T), (std::vector<Timestamp>{0, 10}));
  run(T, 15, 8);
  EXPECT_EQ(entries(T), (std::vector<Timestamp>{0}));
  run(T, 16, 64); // above where the stack began
  EXPECT_EQ(T.current().Top, 0x1040u);
  EXPECT_EQ(entries(T), (std::vector<Timestamp>{0}));
}

TEST(CallTracker, LongjmpEndsAllThatIsBelow) {
  model::CallTracker T(0x1000, 0);
  std::vector<pieces::CallRecord> Ended;
  T.Ended = &Ended;
  for (unsigned I = 1; I < 6; ++I) {
    call(T, I * 10);
    run(T, I * 10 + 1, -0x18);
  }
  T.step(1, 100);
  T.set(0x1000 - 2 * 0x20, 101);
  EXPECT_EQ(entries(T), (std::vector<Timestamp>{10, 11, 21}));
  ASSERT_EQ(Ended.size(), 3u);
  EXPECT_EQ(Ended[0].Entry, 51u) << "inner ones first";
}

TEST(CallTracker, CoroutinesKeepTheirStacks) {
  model::CallTracker T(0x10000, 0);
  call(T, 1);
  run(T, 2, -0x100);
  T.set(0x50000, 3); // a new one
  EXPECT_EQ(T.stacks().size(), 2u);
  run(T, 4, -0x40);
  call(T, 5);
  run(T, 6, 0);
  T.set(0x10000 - 0x108, 7); // back, where it was left
  EXPECT_EQ(T.stacks().size(), 2u);
  EXPECT_EQ(entries(T), (std::vector<Timestamp>{1, 2}));
  T.set(0x50000 - 0x48, 8);
  EXPECT_EQ(entries(T), (std::vector<Timestamp>{4, 6}));
  // A little beyond a stack is still that stack.
  T.set(0x50000 - 0x48 - 256, 9);
  EXPECT_EQ(entries(T), (std::vector<Timestamp>{4, 6}));
  EXPECT_EQ(T.stacks().size(), 2u);
}

TEST(CallTracker, SignalStackEndsWhenItIsLeft) {
  model::CallTracker T(0x10000, 0);
  call(T, 1);
  run(T, 2, -0x100);
  T.signal(0x80000, true, 3);
  EXPECT_EQ(T.stacks().size(), 2u);
  EXPECT_EQ(T.current().Interrupted, T.stacks()[1].Id);
  run(T, 3, -0x10);
  T.signal(0x7ff00, true, 4); // another one on the same stack
  EXPECT_EQ(T.stacks().size(), 2u);
  EXPECT_TRUE(T.current().Calls.back().Signal);
  T.set(0x10000 - 0x108, 5);
  EXPECT_EQ(T.stacks().size(), 1u);
  EXPECT_EQ(entries(T), (std::vector<Timestamp>{1, 2}));
}

TEST(CallTracker, GoesOnFromWhatWasKept) {
  model::CallTracker T(0x10000, 0);
  call(T, 1);
  run(T, 2, -0x100);
  call(T, 3); // not entered yet
  T.current().StackPointer = T.stackPointer();
  model::CallTracker Again(std::vector<model::CallStackRecord>(
      T.stacks().begin(), T.stacks().end()));
  EXPECT_EQ(Again.stackPointer(), T.stackPointer());
  run(Again, 9, 8);
  EXPECT_EQ(entries(Again), (std::vector<Timestamp>{1, 2}));
  Again.set(0x90000, 10);
  EXPECT_EQ(Again.current().Id, 2u) << "numbers are not used twice";
}

std::vector<uint8_t> snapshot(uint32_t Thread, uint64_t StackPointer) {
  std::vector<uint8_t> P(sizeof(ch_ev_snapshot) + CH_GUEST_STATE_SIZE);
  std::memcpy(P.data(), &Thread, 4);
  std::memcpy(P.data() + sizeof(ch_ev_snapshot) + CH_OFFSET_RSP, &StackPointer,
              8);
  return P;
}
template <class T> std::vector<uint8_t> bytes(const T &Value) {
  auto *P = reinterpret_cast<const uint8_t *>(&Value);
  return std::vector<uint8_t>(P, P + sizeof(T));
}
std::vector<uint8_t> registers(uint32_t Thread, uint64_t StackPointer) {
  ch_ev_registers R = {Thread, 1};
  std::vector<uint8_t> P = bytes(R);
  for (uint64_t Word : {uint64_t(CH_OFFSET_RSP), StackPointer}) {
    std::vector<uint8_t> W = bytes(Word);
    P.insert(P.end(), W.begin(), W.end());
  }
  return P;
}

TEST(CallFollower, TwoSignalsAtOnce) {
  model::CallFollower F;
  F.event(CH_EV_SNAPSHOT, snapshot(3, 0x10000), 0);
  F.event(CH_EV_RESUME, bytes(ch_ev_thread{3, 0}), 0);
  ASSERT_TRUE(F.running());
  run(*F.running(), 0, -0x100);
  for (uint64_t At : {0xf000, 0xe000}) {
    ch_ev_signal S = {};
    S.thread = 3;
    F.event(CH_EV_SIGNAL, bytes(S), 5);
    ch_ev_memory M = {At, 0x400, 3, CH_MEM_SIGNAL, 0, 0};
    F.event(CH_EV_MEMORY, bytes(M), 5);
  }
  EXPECT_EQ(F.signalsOf(3).size(), 2u);
  // A block may end here: the state is still that before the signals.
  F.event(CH_EV_SNAPSHOT, snapshot(3, 0xff00), 5);
  EXPECT_EQ(F.surprises(), 0u);
  F.event(CH_EV_REGISTERS, registers(3, 0xe000), 5);
  const llvm::ArrayRef<pieces::CallRecord> Calls = F.running()->current().Calls;
  ASSERT_EQ(Calls.size(), 3u);
  EXPECT_TRUE(Calls[1].Signal && Calls[2].Signal);
  EXPECT_EQ(Calls[1].Slot, 0xf000u);
  EXPECT_EQ(Calls[2].Slot, 0xe000u);
  EXPECT_EQ(F.takeChanged(), std::vector<uint32_t>{3});
  F.event(CH_EV_SNAPSHOT, snapshot(3, 0x1234), 6);
  EXPECT_EQ(F.surprises(), 1u);
  F.event(CH_EV_THREAD_EXIT, bytes(ch_ev_thread{3, 0}), 7);
  EXPECT_FALSE(F.running());
  EXPECT_TRUE(F.takeChanged().empty());
}

TEST(CallFormat, Activations) {
  pieces::ActivationsWriter W;
  EXPECT_EQ(W.first(), 1u);
  pieces::CallRecord First{100, pieces::NeverEnds, 0, 5, 0, false};
  pieces::CallRecord Second{120, 0x7ff8, 5, 6, 0, false};
  pieces::CallRecord Third{90, 0x7000, 0, 0, 0, true};
  EXPECT_EQ(W.add(0, First), 1u);
  EXPECT_EQ(W.add(1, Second), 2u);
  ByteWriter Bytes = W.take();
  // As docs/format.md says.
  EXPECT_EQ(Bytes.data().vec(),
            (std::vector<uint8_t>{2, 0, 0xc8, 0x01, 0, 5, //
                                  0, 1, 40, 0xf0, 0xff, 0x03, 5, 6}));
  EXPECT_EQ(W.first(), 3u);
  EXPECT_EQ(W.add(2, Third), 3u);
  auto A = pieces::decodeActivations(Bytes.data(), 1);
  ASSERT_TRUE(bool(A)) << toString(A.takeError());
  ASSERT_EQ(A->size(), 2u);
  EXPECT_TRUE((*A)[0].isFirstOfStack());
  EXPECT_EQ((*A)[1].Parent, 1u);
  EXPECT_EQ((*A)[1].Call.Entry, 120u);
  EXPECT_EQ((*A)[1].Call.Slot, 0x7ff8u);
  EXPECT_EQ((*A)[1].Call.CallSuperblock, 5u);
  EXPECT_EQ((*A)[1].Call.Callee, 6u);
  EXPECT_EQ((*A)[1].Call.Node, 2u);
  ByteWriter More = W.take();
  auto B = pieces::decodeActivations(More.data(), 3);
  ASSERT_TRUE(bool(B)) << toString(B.takeError());
  EXPECT_TRUE((*B)[0].Call.Signal);
  EXPECT_EQ((*B)[0].Parent, 2u);
  for (size_t N = 1; N < More.size(); ++N)
    EXPECT_TRUE(errorToBool(
        pieces::decodeActivations(More.data().take_front(N), 3).takeError()))
        << N;
  // A parent that would come before the first of all.
  EXPECT_TRUE(
      errorToBool(pieces::decodeActivations(More.data(), 1).takeError()));
}

TEST(CallFormat, Stacks) {
  pieces::ThreadStacks T;
  T.Thread = 4;
  T.Signals.push_back({0xf000, true});
  T.Stacks.push_back({9, 0x7000, 0x8000, 2, 1});
  T.Stacks.push_back({3, 0x1000, 0x1000, 1, 0});
  ByteWriter Out;
  pieces::encodeStacks(Out, T);
  size_t One = Out.size();
  T.Thread = 5;
  T.Signals.clear();
  pieces::encodeStacks(Out, T);
  auto D = pieces::decodeStacks(Out.data());
  ASSERT_TRUE(bool(D)) << toString(D.takeError());
  ASSERT_EQ(D->size(), 2u);
  EXPECT_EQ((*D)[0].Thread, 4u);
  ASSERT_EQ((*D)[0].Signals.size(), 1u);
  EXPECT_EQ((*D)[0].Signals[0].StackPointer, 0xf000u);
  EXPECT_TRUE((*D)[0].Signals[0].AlternateStack);
  ASSERT_EQ((*D)[1].Stacks.size(), 2u);
  EXPECT_EQ((*D)[1].Stacks[0].Activation, 9u);
  EXPECT_EQ((*D)[1].Stacks[0].Top, 0x8000u);
  EXPECT_EQ((*D)[1].Stacks[0].Interrupted, 1u);
  EXPECT_EQ((*D)[1].Stacks[1].Id, 1u);
  for (size_t N = 1; N < Out.size(); ++N)
    if (N != One) {
      EXPECT_TRUE(errorToBool(
          pieces::decodeStacks(Out.data().take_front(N)).takeError()))
          << N;
    }
}

TEST(ExecutionFormat, RunsOfRandomBlocks) {
  std::mt19937 Random(7);
  pieces::ExecutionsWriter W;
  BlockNumber N = 0;
  std::map<uint32_t, uint32_t> BlocksOf;
  for (unsigned Piece = 0; Piece < 40; ++Piece) {
    std::map<uint32_t, std::set<BlockNumber>> Ran;
    BlockNumber First = N;
    // Some of several groups.
    const unsigned Ids = Piece % 2 ? 1000 : 15;
    // Some longer than what the writer keeps as bits, some with blocks in a row
    // in which nothing ran.
    const unsigned Most = Piece % 4 < 2 ? 30 : 300;
    for (unsigned Count = 1 + Random() % Most; Count; --Count, ++N) {
      if (Random() % 40 == 0)
        N += Random() % 150;
      for (unsigned K = Random() % (Piece % 2 ? 100 : 40); K; --K) {
        uint32_t Id = 1 + Random() % Ids;
        W.ran(Id, N);
        Ran[Id].insert(N);
      }
    }
    size_t Runs = 0;
    for (const auto &[Id, Blocks] : Ran)
      for (BlockNumber B : Blocks)
        Runs += !B || !Blocks.count(B - 1);
    EXPECT_EQ(W.runs(), Runs);
    EXPECT_EQ(W.first(), First);
    ByteWriter Bytes = W.take(N);
    EXPECT_EQ(W.runs(), 0u);
    EXPECT_EQ(W.superblocks().size(), Ran.size());
    for (const auto &[Id, Blocks] : Ran) {
      BlocksOf[Id] += uint32_t(Blocks.size());
      EXPECT_EQ(W.blocksOf(Id), BlocksOf[Id]);
      EXPECT_TRUE(llvm::is_contained(W.superblocks(), Id));
    }
    auto D = pieces::ExecutionRange::create(Bytes.data());
    ASSERT_TRUE(bool(D)) << toString(D.takeError());
    EXPECT_EQ(D->first(), First);
    EXPECT_EQ(D->last(), N - 1);
    // Some of those there are, and some that there are not.
    std::vector<uint32_t> Wanted;
    for (uint32_t Id = 0; Id < Ids + 3; ++Id)
      if (Random() % 3 && (Ids < 20 || Id / 100 % 3 == 1))
        Wanted.push_back(Id);
      else
        Ran.erase(Id);
    std::map<uint32_t, std::set<BlockNumber>> Found;
    BlockNumber End = 0;
    Error E = D->visit(Wanted, [&](const pieces::ExecutionRun &R) {
      std::set<BlockNumber> &Blocks = Found[R.Superblock];
      EXPECT_TRUE(Blocks.empty() || R.First > End) << "runs that touch";
      for (BlockNumber B = R.First; B <= R.Last; ++B)
        Blocks.insert(B);
      End = R.Last + 1;
    });
    EXPECT_FALSE(errorToBool(std::move(E)));
    EXPECT_EQ(Found, Ran);
  }
  EXPECT_TRUE(W.take(N).empty()) << "no blocks since";
}

TEST(ExecutionFormat, PartsBySuperblock) {
  std::mt19937 Random(8);
  pieces::ExecutionsWriter Whole, InParts;
  for (BlockNumber N = 0; N < 500; ++N)
    for (unsigned K = 0; K < 100; ++K) {
      const uint32_t Id = 1 + Random() % 3000;
      Whole.ran(Id, N);
      InParts.ran(Id, N);
    }
  auto RunsIn = [](const ByteWriter &Bytes) {
    std::vector<std::array<uint32_t, 3>> Runs;
    auto D = pieces::ExecutionRange::create(Bytes.data());
    EXPECT_TRUE(bool(D)) << toString(D.takeError());
    std::vector<uint32_t> All(3001);
    std::iota(All.begin(), All.end(), 0);
    Error E = D->visit(All, [&](const pieces::ExecutionRun &R) {
      Runs.push_back({R.Superblock, R.First, R.Last});
    });
    EXPECT_FALSE(errorToBool(std::move(E)));
    return Runs;
  };
  const ByteWriter Expected = Whole.take(500);
  auto Parts = InParts.takeParts(500, 4096);
  EXPECT_GT(Parts.size(), 10u);
  EXPECT_EQ(InParts.superblocks(), Whole.superblocks());
  std::vector<std::array<uint32_t, 3>> Runs;
  for (const pieces::ExecutionsWriter::Part &P : Parts) {
    EXPECT_LT(P.Bytes.size(), 2u * 4096);
    auto Some = RunsIn(P.Bytes);
    ASSERT_FALSE(Some.empty());
    EXPECT_EQ(Some.front()[0], P.First);
    Runs.insert(Runs.end(), Some.begin(), Some.end());
  }
  EXPECT_EQ(Runs, RunsIn(Expected));
  EXPECT_TRUE(InParts.takeParts(500, 4096).empty()) << "no blocks since";
}

TEST(ExecutionFormat, Damage) {
  pieces::ExecutionsWriter W;
  W.ran(3, 0);
  W.ran(3, 1);
  W.ran(7, 1);
  ByteWriter Bytes = W.take(2);
  EXPECT_EQ(Bytes.data().vec(),
            (std::vector<uint8_t>{0, 2, 1, 7, 8, 3, 1, 0, 2, 4, 1, 1, 1}));
  for (size_t N = 0; N < Bytes.size(); ++N) {
    std::vector<uint8_t> B = Bytes.data().vec();
    B[N] = 0x7f;
    auto D = pieces::ExecutionRange::create(B);
    if (!D) {
      consumeError(D.takeError());
      continue;
    }
    std::vector<uint32_t> All(256);
    std::iota(All.begin(), All.end(), 0);
    consumeError(D->visit(All, [&](const pieces::ExecutionRun &R) {
      EXPECT_TRUE(R.First >= D->first() && R.Last <= D->last()) << N;
    }));
  }
}

} // namespace
