// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Frames of a thread that never called anything. Those of real programs are
// compared with the living ones by test/lldb/same-frames.test.

#include "lldb-plugin/history/HistoryFrames.h"
#include "CountingTrace.h"
#include "trace-format/GuestState.h"

using namespace chronicle;
using namespace llvm;

namespace {

class HistoryFramesTest : public CountingTraceTest {};

TEST_F(HistoryFramesTest, TheOnlyFrameIsWhatRuns) {
  std::optional<uint64_t> Cfa;
  // Around the ends of blocks, and at the end of the run.
  for (Timestamp Time : {Timestamp(1), Timestamp(2), Timestamp(89),
                         Timestamp(90), Timestamp(91), End - 1, End}) {
    auto Made = history::HistoryFrames::create(*T, 1, Time);
    ASSERT_TRUE(bool(Made)) << toString(Made.takeError());
    EXPECT_EQ(cantFail(Made->count()), 1u) << "at " << Time;
    ASSERT_FALSE(cantFail(Made->frame(1))) << "at " << Time;
    const history::HistoryFrame &Frame = *cantFail(Made->frame(0));
    EXPECT_EQ(Frame.What, history::HistoryFrame::Interrupted);
    EXPECT_EQ(Frame.Pc, pcAt(Time)) << "at " << Time;
    EXPECT_EQ(Frame.Activation, 0u);
    if (!Cfa)
      Cfa = Frame.Cfa;
    EXPECT_EQ(Frame.Cfa, *Cfa) << "it is the same as long as it lives";
    auto R = Made->registers(0);
    ASSERT_TRUE(bool(R)) << toString(R.takeError());
    EXPECT_EQ(R->rip(), pcAt(Time));
    EXPECT_EQ(R->word(CH_OFFSET_RAX), 3 + Time / 3);
    EXPECT_EQ(R->word(CH_OFFSET_RBX), 0x100004 + 8 * ((Time + 1) / 3));
  }
}

TEST_F(HistoryFramesTest, OfAThreadThereIsNot) {
  auto Made = history::HistoryFrames::create(*T, 2, 100);
  ASSERT_FALSE(bool(Made));
  EXPECT_EQ(toString(Made.takeError()), "there is no thread 2");
}

} // namespace
