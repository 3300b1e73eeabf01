// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Definitions that forked processes have from their parents.

#include "indexer/family/ExitNumbers.h"
#include "gtest/gtest.h"
#include <thread>

using namespace chronicle;
using namespace chronicle::family;
using namespace llvm;

namespace {

std::vector<uint8_t> definition(uint8_t Value) { return {Value, Value}; }

TEST(FamilyTest, FindsDefinitionsByTheirExits) {
  DefinitionArchive A;
  A.add(1, 3, definition(10));
  A.add(4, 1, definition(20));
  EXPECT_FALSE(A.find(0));
  EXPECT_EQ(A.find(1)->Definition, definition(10));
  EXPECT_EQ(A.find(3)->FirstExit, 1u);
  EXPECT_EQ(A.find(4)->Definition, definition(20));
  EXPECT_FALSE(A.find(5));
}

TEST(FamilyTest, AChildHasWhatItsParentHadAtTheFork) {
  auto Parent = std::make_shared<DefinitionArchive>();
  Parent->add(1, 2, definition(10));
  Parent->addFork(1, {.Time = 77, .Thread = 3});
  // After the fork, the two give out the same numbers.
  Parent->add(3, 2, definition(11));
  std::optional<ForkPoint> Point = Parent->takeFork(1);
  ASSERT_TRUE(Point);
  EXPECT_EQ(Point->Time, 77u);
  EXPECT_EQ(Point->Thread, 3u);
  EXPECT_EQ(Point->Exits, 2u);
  auto Child = std::make_shared<DefinitionArchive>(
      InheritedDefinitions{Parent, Point->Exits});
  Child->add(3, 1, definition(30));
  EXPECT_EQ(Child->find(2)->Definition, definition(10));
  EXPECT_EQ(Child->find(3)->Definition, definition(30));
  EXPECT_FALSE(Child->find(4));
  Child->addFork(1, {});
  EXPECT_EQ(Child->takeFork(1)->Exits, 3u);
  EXPECT_EQ(Parent->find(4)->Definition, definition(11));
}

TEST(FamilyTest, WaitsForTheFork) {
  DefinitionArchive A;
  std::thread Later([&] { A.addFork(1, {.Time = 5}); });
  EXPECT_EQ(A.takeFork(1)->Time, 5u);
  Later.join();
  // Not known, but nothing more comes.
  std::thread End([&] { A.close(); });
  EXPECT_FALSE(A.takeFork(2));
  End.join();
}

TEST(FamilyTest, GivesExitsNumbersOfTheirOwn) {
  auto Parent = std::make_shared<DefinitionArchive>();
  Parent->add(1, 2, definition(10));
  Parent->add(3, 1, definition(11));
  ExitNumbers Numbers({Parent, 3});
  EXPECT_TRUE(Numbers.differ());
  EXPECT_EQ(Numbers.next(), 4u);
  std::vector<std::vector<uint8_t>> Defined;
  uint32_t Next = 1;
  auto Define = [&](uint32_t First, ArrayRef<uint8_t> Definition) {
    const uint32_t Exits = First == 1 ? 2 : 1;
    Defined.emplace_back(Definition.begin(), Definition.end());
    Numbers.add(First, Next, Exits);
    Next += Exits;
  };
  // The one that is met first is the first.
  EXPECT_EQ(Numbers.translate(3, Define), 1u);
  EXPECT_EQ(Numbers.translate(2, Define), 3u);
  EXPECT_EQ(Numbers.translate(1, Define), 2u);
  EXPECT_EQ(Numbers.translate(3, Define), 1u);
  ASSERT_EQ(Defined.size(), 2u);
  EXPECT_EQ(Defined[0], definition(11));
  // One of its own.
  Numbers.add(4, 4, 2);
  EXPECT_EQ(Numbers.next(), 6u);
  EXPECT_EQ(Numbers.translate(5, Define), 5u);
  EXPECT_EQ(Numbers.recorders(3), 2u);
  EXPECT_EQ(Numbers.recorders(5), 5u);
  // What is no exit stays none.
  EXPECT_GT(Numbers.translate(6, Define), CH_MAX_EXIT);
  EXPECT_GT(Numbers.translate(0, Define), CH_MAX_EXIT);
  EXPECT_EQ(Numbers.translate(CH_RUN_EVENT, Define), CH_RUN_EVENT);
}

TEST(FamilyTest, NumbersOfAProgramAreThoseOfItsTrace) {
  ExitNumbers Numbers;
  EXPECT_FALSE(Numbers.differ());
  EXPECT_EQ(Numbers.recorders(7), 7u);
}

} // namespace
