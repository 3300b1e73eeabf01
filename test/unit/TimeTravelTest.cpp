// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves through a run of which it is known what ran when: whatever breakpoints
// and watchpoints there are, each stop is where a search by hand finds it.

#include "lldb-plugin/session/TimeTravel.h"
#include "CountingTrace.h"
#include "lldb-plugin/session/ThreadNames.h"
#include <random>

using namespace chronicle;
using namespace llvm;

namespace {

class TimeTravelTest : public CountingTraceTest {
protected:
  /// What the instruction at Time writes, every third one.
  static uint64_t writtenAt(Timestamp Time) {
    return 0x100004 + 8 * (Time / 3);
  }
};

TEST_F(TimeTravelTest, EveryExecutionForwardAndBack) {
  session::TimeTravel Travel(*T);
  Travel.addBreakpoint(0x1004);
  for (Timestamp Expected = 1; Expected < End; Expected += 3) {
    auto Found = Travel.continueForward(Cancel);
    ASSERT_TRUE(bool(Found)) << toString(Found.takeError());
    EXPECT_EQ(Found->Kind, session::StopKind::Breakpoint);
    ASSERT_EQ(Travel.position().Time, Expected);
    // As a debugger goes on: off the breakpoint, which is taken away meanwhile.
    Travel.removeBreakpoint(0x1004);
    ASSERT_TRUE(bool(Travel.stepForward(1, /*Others=*/true, Cancel)));
    Travel.addBreakpoint(0x1004);
  }
  EXPECT_EQ(cantFail(Travel.continueForward(Cancel)).Kind,
            session::StopKind::End);
  for (Timestamp Left = End; Left > 1; Left -= 3) {
    EXPECT_EQ(cantFail(Travel.continueBackward(Cancel)).Kind,
              session::StopKind::Breakpoint);
    ASSERT_EQ(Travel.position().Time, Left - 2);
  }
  EXPECT_EQ(cantFail(Travel.continueBackward(Cancel)).Kind,
            session::StopKind::Begin);
  EXPECT_EQ(Travel.position().Time, 0u);
}

TEST_F(TimeTravelTest, AnyMovesAmongAnyStops) {
  std::mt19937 Random(4);
  for (unsigned Round = 0; Round < 40; ++Round) {
    session::TimeTravel Travel(*T);
    std::set<uint64_t> Breakpoints;
    std::set<uint64_t> Watchpoints;
    for (unsigned I = Random() % 3; I; --I)
      Breakpoints.insert(0x1000 + 4 * (Random() % 4)); // one never runs
    for (unsigned I = Random() % 3; I; --I)
      Watchpoints.insert(writtenAt(Random() % (End + 30)));
    for (uint64_t Address : Breakpoints)
      Travel.addBreakpoint(Address);
    for (uint64_t Address : Watchpoints)
      Travel.addWatchpoint({Address, 8});
    auto IsWatched = [&](Timestamp Time) {
      return Time % 3 == 0 && Watchpoints.count(writtenAt(Time));
    };
    for (unsigned Move = 0; Move < 60; ++Move) {
      if (Random() % 4 == 0)
        cantFail(Travel.jump(Random() % (End + 1)));
      const Timestamp Now = Travel.position().Time;
      Timestamp Expected = Now;
      session::StopKind Kind;
      session::Stop Found;
      if (Random() % 2) {
        for (;; ++Expected) {
          Kind = session::StopKind::End;
          if (Expected > Now && IsWatched(Expected - 1))
            Kind = session::StopKind::Watchpoint;
          else if (Expected < End && Breakpoints.count(pcAt(Expected)))
            Kind = session::StopKind::Breakpoint;
          if (Kind != session::StopKind::End || Expected == End)
            break;
        }
        Found = cantFail(Travel.continueForward(Cancel));
      } else {
        for (Kind = session::StopKind::Begin;
             Expected && Kind == session::StopKind::Begin;) {
          --Expected;
          if (IsWatched(Expected))
            Kind = session::StopKind::Watchpoint;
          else if (Breakpoints.count(pcAt(Expected)))
            Kind = session::StopKind::Breakpoint;
        }
        Found = cantFail(Travel.continueBackward(Cancel));
      }
      ASSERT_EQ(Travel.position().Time, Expected) << "from " << Now;
      ASSERT_EQ(int(Found.Kind), int(Kind)) << "from " << Now;
    }
  }
}

TEST_F(TimeTravelTest, GoesNoFurtherThanTold) {
  session::TimeTravel Travel(*T);
  Travel.addBreakpoint(0x1008);
  cantFail(Travel.jump(100));
  // The breakpoint at 98 is before the place, the one at 95 after it.
  EXPECT_EQ(
      cantFail(Travel.continueBackward(Cancel, session::Position{97, 1})).Kind,
      session::StopKind::Breakpoint);
  EXPECT_EQ(Travel.position().Time, 98u);
  EXPECT_EQ(
      cantFail(Travel.continueBackward(Cancel, session::Position{97, 1})).Kind,
      session::StopKind::Arrived);
  EXPECT_EQ(Travel.position().Time, 97u);
}

TEST_F(TimeTravelTest, WhatIsCancelledDoesNotMove) {
  session::TimeTravel Travel(*T);
  Travel.addBreakpoint(0x1004);
  cantFail(Travel.jump(100));
  Cancel.Cancelled = true;
  EXPECT_EQ(cantFail(Travel.continueForward(Cancel)).Kind,
            session::StopKind::Interrupted);
  EXPECT_EQ(cantFail(Travel.continueBackward(Cancel)).Kind,
            session::StopKind::Interrupted);
  EXPECT_EQ(Travel.position().Time, 100u);
  Cancel.Cancelled = false;
  EXPECT_EQ(cantFail(Travel.continueBackward(Cancel)).Kind,
            session::StopKind::Breakpoint);
  EXPECT_EQ(Travel.position().Time, 97u);
}

TEST_F(TimeTravelTest, ThreadsHaveTheSystemsNames) {
  EXPECT_EQ(session::osThread(*T, 1), 4711u);
  EXPECT_EQ(session::threadNumber(*T, 4711, 100), 1u);
  EXPECT_EQ(session::threadNumber(*T, 4712, 100), 0u);
}

} // namespace
