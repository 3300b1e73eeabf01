// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/replay/machine/ReplayMemory.h"
#include "gtest/gtest.h"
#include <array>
#include <map>
#include <numeric>

using namespace chronicle;
using namespace llvm;

namespace {

/// Has frames by number, which have another first byte in odd blocks. It may
/// keep frames and lend them.
struct Frames : machine::PageSource {
  bool Lends = false;
  std::map<std::pair<FrameNumber, BlockNumber>, std::array<uint8_t, PageSize>>
      Kept;
  std::map<FrameNumber, uint8_t> Fill;
  std::map<FrameNumber, unsigned> Reads;
  bool Broken = false;
  Expected<bool> readFrame(FrameNumber Frame, BlockNumber N,
                           uint8_t *Page) override {
    ++Reads[Frame];
    if (Broken)
      return createStringError("the piece at 1234 is damaged");
    auto It = Fill.find(Frame);
    if (It == Fill.end())
      return false;
    std::memset(Page, It->second, PageSize);
    Page[0] = uint8_t(N);
    return true;
  }
  Expected<const uint8_t *> lendFrame(FrameNumber Frame,
                                      BlockNumber N) override {
    if (!Lends)
      return nullptr;
    auto [It, New] = Kept.try_emplace({Frame, N});
    if (New) {
      Expected<bool> Existed = readFrame(Frame, N, It->second.data());
      if (!Existed || !*Existed)
        Kept.erase(It);
      if (!Existed)
        return Existed.takeError();
      if (!*Existed)
        return nullptr;
    }
    return It->second.data();
  }
  void visitFrames(FrameNumber First, FrameNumber Last,
                   function_ref<void(FrameNumber)> Visit) override {
    for (auto &[Frame, Byte] : Fill)
      if (Frame >= First && Frame <= Last)
        Visit(Frame);
  }
};

/// The parameter says whether the source lends frames.
class ReplayMemoryTest : public testing::TestWithParam<bool> {
protected:
  ReplayMemoryTest() : Memory(new machine::ReplayMemory(Source, 4)) {
    Source.Lends = GetParam();
  }
  const machine::ReplayFrame *dirty(FrameNumber Number) {
    for (const machine::ReplayFrame *F : Memory->dirtyFrames())
      if (F->Number == Number)
        return F;
    return nullptr;
  }
  unsigned granules(FrameNumber Number) {
    const machine::ReplayFrame *F = dirty(Number);
    return F ? std::accumulate(std::begin(F->Dirty), std::end(F->Dirty), 0u)
             : 0;
  }
  ch_ev_map mapping(uint64_t Address, uint64_t Length, uint32_t Flags,
                    uint32_t Object = 0, uint64_t Offset = 0) {
    ch_ev_map M = {};
    M.address = Address;
    M.length = Length;
    M.flags = Flags;
    M.object = Object;
    M.offset = Offset;
    return M;
  }
  Frames Source;
  std::unique_ptr<machine::ReplayMemory> Memory;
};

TEST_P(ReplayMemoryTest, FetchesAFrameOnce) {
  Source.Fill[0x10] = 0xab;
  EXPECT_EQ(Memory->load<uint8_t>(0x10000), 4u);
  EXPECT_EQ(Memory->load<uint64_t>(0x10008), 0xababababababababu);
  EXPECT_EQ(Memory->load<uint32_t>(0x10ffe), 0xababu); // the next page is zero
  Memory->store<uint8_t>(0x10008, 1);
  EXPECT_EQ(Memory->load<uint64_t>(0x10008), 0xababababababab01u);
  EXPECT_EQ(Source.Reads[0x10], 1u);
  EXPECT_EQ(Memory->absentFrames(), 1u);
}

TEST_P(ReplayMemoryTest, MarksEveryGranuleAStoreTouches) {
  for (bool Warm : {false, true}) {
    if (Warm)
      Memory->store<uint8_t>(0x10fff, 0); // the fast path from here on
    Memory->store<uint8_t>(0x10000, 0);
    EXPECT_EQ(granules(0x10), 1u + Warm);
    Memory->store<uint64_t>(0x10014, 0); // two
    EXPECT_EQ(granules(0x10), 3u + Warm);
    Memory->store<operations::V256>(0x10104, operations::V256()); // five
    EXPECT_EQ(granules(0x10), 8u + Warm);
    Memory->store<operations::V128>(0x10200, operations::V128()); // two
    EXPECT_EQ(granules(0x10), 10u + Warm);
    Memory->store<operations::V128>(
        0x11ff8, operations::V128()); // one on each of two pages
    EXPECT_EQ(granules(0x11), 1u);
    EXPECT_EQ(granules(0x12), 1u);
    Memory->clearDirty();
    EXPECT_TRUE(Memory->dirtyFrames().empty());
  }
  Memory->store<uint64_t>(0x10000, 0);
  EXPECT_EQ(granules(0x10), 1u);
}

TEST_P(ReplayMemoryTest, SharedObjectsAreOneImage) {
  Memory->store<uint64_t>(0x10000, 1);
  Memory->map(mapping(0x10000, 0x2000, CH_MAP_SHARED, 3, 0x5000));
  Memory->map(mapping(0x80000, 0x1000, CH_MAP_SHARED, 3, 0x6000));
  EXPECT_EQ(Memory->load<uint64_t>(0x10000), 0u);
  Memory->store<uint64_t>(0x11008, 77);
  EXPECT_EQ(Memory->load<uint64_t>(0x80008), 77u);
  const FrameNumber Frame = SharedFrames + (uint64_t(3) << 36) + 6;
  EXPECT_EQ(Memory->frameAt(0x80123), Frame);
  EXPECT_EQ(granules(Frame), 1u);
  // Unmapping forgets the address, not the object.
  Memory->unmap(0x11000, 0x1000);
  EXPECT_EQ(Memory->load<uint64_t>(0x11008), 0u);
  EXPECT_EQ(Memory->frameAt(0x10000), Frame - 1);
  EXPECT_EQ(Memory->load<uint64_t>(0x80008), 77u);
  Memory->map(mapping(0x10000, 0x1000, 0));
  EXPECT_EQ(Memory->frameAt(0x10000), 0x10u);
}

TEST_P(ReplayMemoryTest, MappingMakesPrivatePagesZero) {
  Source.Fill[0x20] = 1;
  Source.Fill[0x21] = 1;
  Source.Fill[0x22] = 1;
  EXPECT_EQ(Memory->load<uint8_t>(0x20001), 1u);
  Memory->store<uint64_t>(0x20008, 5);
  Memory->map(mapping(0x20000, 0x2000, 0));
  EXPECT_EQ(Memory->load<uint64_t>(0x20008), 0u);
  EXPECT_EQ(granules(0x20), 0u);
  ASSERT_TRUE(dirty(0x20));
  EXPECT_TRUE(dirty(0x20)->Zeroed);
  EXPECT_EQ(Memory->load<uint8_t>(0x21001), 0u);
  EXPECT_EQ(Source.Reads[0x21], 0u);
  EXPECT_EQ(Memory->load<uint8_t>(0x22001), 1u);
  Memory->store<uint64_t>(0x20010, 6);
  EXPECT_EQ(granules(0x20), 1u);
  // The growth of the stack is logged late: what it holds by then stays.
  Memory->map(mapping(0x20000, 0x1000, CH_MAP_STACK));
  EXPECT_EQ(Memory->load<uint64_t>(0x20010), 6u);
}

TEST_P(ReplayMemoryTest, ZeroesPartsAsWritesAndPagesAsWholes) {
  Source.Fill[0x30] = Source.Fill[0x31] = Source.Fill[0x32] = 9;
  Memory->zero(0x30ff0, 0x1020);
  EXPECT_EQ(granules(0x30), 2u);
  EXPECT_EQ(granules(0x31), 0u);
  ASSERT_TRUE(dirty(0x31));
  EXPECT_TRUE(dirty(0x31)->Zeroed);
  EXPECT_EQ(granules(0x32), 2u);
  EXPECT_EQ(Memory->load<uint64_t>(0x30fe8), 0x0909090909090909u);
  EXPECT_EQ(Memory->load<uint64_t>(0x30ff0), 0u);
  EXPECT_EQ(Memory->load<uint64_t>(0x31800), 0u);
  EXPECT_EQ(Memory->load<uint64_t>(0x32010), 0x0909090909090909u);
}

TEST_P(ReplayMemoryTest, TakesBytesByReferenceFromTheEndOfTheBlock) {
  Source.Fill[0x40] = 3;
  Memory->writeByReference(0x40000, 0x1000, 8);
  EXPECT_EQ(Memory->load<uint8_t>(0x40000), 9u); // block 9's start
  EXPECT_EQ(Memory->load<uint8_t>(0x40001), 3u);
  EXPECT_EQ(granules(0x40), 512u);
}

TEST_P(ReplayMemoryTest, FillsFramesWhenTheyAreTouched) {
  for (FrameNumber N = 0x40; N < 0x80; ++N)
    Source.Fill[N] = 3;
  Memory->store<uint8_t>(0x41000, 1); // there already: filled at once
  Memory->map(mapping(0x40000, 0x40000, 0));
  Memory->writeByReference(0x40000, 0x20000, 8);
  EXPECT_EQ(Source.Reads[0x40], 0u);
  EXPECT_EQ(Memory->load<uint8_t>(0x40000), 9u);
  EXPECT_EQ(Memory->load<uint8_t>(0x41000), 9u);
  EXPECT_EQ(Memory->load<uint8_t>(0x41001), 3u);
  EXPECT_EQ(Memory->load<uint8_t>(0x60000), 0u); // only mapped
  EXPECT_EQ(Source.Reads[0x60], 0u);
  EXPECT_EQ(Memory->touchedDirtyFrames().size(), 3u);
  ASSERT_EQ(Memory->dirtyFills().size(), 3u); // without frame 0x41
  EXPECT_EQ(Source.Reads[0x50], 0u);
  // dirtyFrames() reads all frames that were filled.
  EXPECT_EQ(Memory->dirtyFrames().size(), 64u);
  EXPECT_TRUE(Memory->dirtyFills().empty());
  EXPECT_EQ(granules(0x5f), 512u);
  EXPECT_TRUE(dirty(0x5f)->Zeroed);
  EXPECT_EQ(dirty(0x5f)->Bytes[0], 9u);
  EXPECT_EQ(granules(0x60), 0u);
  EXPECT_TRUE(dirty(0x60)->Zeroed);
}

TEST_P(ReplayMemoryTest, TheLastFillCounts) {
  Source.Fill[0x40] = Source.Fill[0x41] = Source.Fill[0x42] = 3;
  Memory->writeByReference(0x40000, 0x3000, 8);
  Memory->unmap(0x41000, 0x1000);
  Memory->clearDirty();
  EXPECT_TRUE(Memory->dirtyFills().empty());
  EXPECT_EQ(Memory->load<uint8_t>(0x40000), 9u);
  EXPECT_EQ(Memory->load<uint8_t>(0x41001), 0u);
  // It was filled before clearDirty(), so it was not written since.
  EXPECT_TRUE(Memory->dirtyFrames().empty());
  EXPECT_EQ(Memory->load<uint8_t>(0x42000), 9u);
  Memory->reset(6);
  EXPECT_EQ(Memory->load<uint8_t>(0x41000), 6u);
}

TEST_P(ReplayMemoryTest, FramesThatNobodyWroteAreAbsentInNewMappingsToo) {
  Memory->map(mapping(0x50000, 0x2000, 0));
  EXPECT_EQ(Memory->load<uint8_t>(0x50000), 0u);
  EXPECT_EQ(Memory->absentFrames(), 1u);
  EXPECT_TRUE(Memory->dirtyFrames().empty());
}

TEST_P(ReplayMemoryTest, KeepsTheFirstError) {
  Source.Broken = true;
  EXPECT_EQ(Memory->load<uint64_t>(0x50000), 0u);
  EXPECT_EQ(toString(Memory->takeError()), "the piece at 1234 is damaged");
  EXPECT_FALSE(Memory->takeError());
}

TEST_P(ReplayMemoryTest, WhatWasLentStaysAsItIs) {
  for (FrameNumber N = 0x60; N < 0x64; ++N)
    Source.Fill[N] = 7;
  for (uint64_t Address = 0x60000; Address < 0x64000; Address += 0x1000)
    EXPECT_EQ(Memory->load<uint8_t>(Address + 8), 7u);
  Memory->store<uint8_t>(0x60008, 1);
  EXPECT_EQ(Memory->load<uint16_t>(0x60008), 0x0701u);
  Memory->unmap(0x61000, 0x1000);
  EXPECT_EQ(Memory->load<uint8_t>(0x61008), 0u);
  Memory->writeByReference(0x62000, 0x1000, 8);
  EXPECT_EQ(Memory->load<uint8_t>(0x62000), 9u);
  EXPECT_EQ(granules(0x60), 1u);
  EXPECT_EQ(granules(0x62), 512u);
  ASSERT_TRUE(dirty(0x61));
  EXPECT_TRUE(dirty(0x61)->Zeroed);
  EXPECT_FALSE(dirty(0x63)); // only read
  for (const auto &[Key, Page] : Source.Kept)
    EXPECT_EQ(Page[8], 7u);
  Memory->reset(4);
  EXPECT_EQ(Memory->load<uint8_t>(0x60008), 7u);
  EXPECT_EQ(Memory->load<uint8_t>(0x61008), 7u);
}

TEST_P(ReplayMemoryTest, AWriteIsSeenWhereverAnObjectIsMapped) {
  const FrameNumber Frame = SharedFrames + (uint64_t(3) << 36);
  Source.Fill[Frame] = 5;
  Memory->map(mapping(0x10000, 0x1000, CH_MAP_SHARED, 3));
  Memory->map(mapping(0x80000, 0x1000, CH_MAP_SHARED, 3));
  EXPECT_EQ(Memory->load<uint8_t>(0x10008), 5u);
  EXPECT_EQ(Memory->load<uint8_t>(0x80008), 5u);
  Memory->store<uint8_t>(0x10008, 6);
  EXPECT_EQ(Memory->load<uint8_t>(0x80008), 6u);
  EXPECT_EQ(Memory->load<uint8_t>(0x10008), 6u);
}

INSTANTIATE_TEST_SUITE_P(Sources, ReplayMemoryTest, testing::Bool());

} // namespace
