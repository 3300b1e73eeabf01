// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps back by the lines that a test says there are: each ends at the start of
// the run of instructions of one line, as a walk by hand finds it. Calls,
// exceptions and inlined functions of real programs are those of
// test/lldb/reverse-*.test.

#include "lldb-plugin/stepping/SourceStep.h"
#include "CountingTrace.h"
#include <map>

using namespace chronicle;
using namespace llvm;

namespace {

/// One function at 0x1000; a line for each of its instructions.
class Lines : public stepping::LineTable {
public:
  explicit Lines(std::array<uint32_t, 3> OfInstructions) {
    for (unsigned I = 0; I < 3; ++I) {
      stepping::CodePlace &Place = Places[0x1000 + 4 * I];
      if (OfInstructions[I])
        Place.Scopes.push_back({.Start = 0x1000, .Line = OfInstructions[I]});
      Place.RowStart = I == 0 || OfInstructions[I] != OfInstructions[I - 1];
    }
  }
  const stepping::CodePlace &at(uint64_t Pc) override { return Places[Pc]; }

private:
  std::map<uint64_t, stepping::CodePlace> Places;
};

class SourceStepTest : public CountingTraceTest {
protected:
  /// The first instruction of the line that the one before From is in.
  static Timestamp byHand(stepping::LineTable &Table, Timestamp From) {
    auto Line = [&](Timestamp Time) {
      return Table.at(pcAt(Time)).Scopes.back().Line;
    };
    Timestamp Time = From - 1;
    while (Time && Line(Time - 1) == Line(From - 1))
      --Time;
    return Time;
  }

  void expectSameAsByHand(Lines Table) {
    stepping::SourceStep Steps(*T, Table, Cancel);
    for (Timestamp From = 1; From <= End; ++From)
      for (bool Into : {false, true}) {
        const session::Position Here{From, 1};
        stepping::SourceStep::Destination Found =
            Into ? Steps.into(Here, 0) : Steps.over(Here, 0);
        ASSERT_TRUE(bool(Found)) << toString(Found.takeError());
        ASSERT_TRUE(*Found) << "from " << From;
        ASSERT_EQ((*Found)->Time, byHand(Table, From)) << "from " << From;
        ASSERT_EQ((*Found)->Hidden, 0u);
      }
  }
};

TEST_F(SourceStepTest, ALineForEachInstruction) {
  expectSameAsByHand(Lines({10, 11, 12}));
}

TEST_F(SourceStepTest, LinesOfSeveralInstructions) {
  expectSameAsByHand(Lines({10, 11, 11}));
  expectSameAsByHand(Lines({10, 10, 11}));
}

TEST_F(SourceStepTest, NothingBeforeTheStart) {
  Lines Table({10, 11, 12});
  stepping::SourceStep Steps(*T, Table, Cancel);
  EXPECT_FALSE(cantFail(Steps.over({0, 1}, 0)));
  EXPECT_FALSE(cantFail(Steps.into({0, 1}, 0)));
  EXPECT_FALSE(cantFail(Steps.instructions({0, 1}, 1)));
}

TEST_F(SourceStepTest, ByInstructions) {
  Lines Table({10, 10, 10});
  stepping::SourceStep Steps(*T, Table, Cancel);
  for (Timestamp From : {Timestamp(1), Timestamp(91), Timestamp(100), End})
    for (uint64_t Count : {1, 2, 89, 90, 91, 500}) {
      auto Found = Steps.instructions({From, 1}, Count);
      ASSERT_TRUE(bool(Found)) << toString(Found.takeError());
      ASSERT_TRUE(*Found) << From << " " << Count;
      // With fewer to go, to the first.
      EXPECT_EQ((*Found)->Time, From - std::min(From, Count));
    }
}

} // namespace
