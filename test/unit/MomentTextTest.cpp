// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moments as people write them, on a run of 1080 instructions.

#include "query/MomentText.h"
#include "CountingTrace.h"
#include "trace-format/Text.h"

using namespace chronicle;
using namespace llvm;

namespace {

class MomentTextTest : public CountingTraceTest {
protected:
  /// The moment; -1: no moment has such a form; -2: the run has no such moment.
  int64_t moment(StringRef Text, std::optional<Timestamp> Now = std::nullopt) {
    Expected<std::optional<Timestamp>> Found =
        query::parseMoment(*T, Text, Now);
    if (!Found) {
      Said = toString(Found.takeError());
      return -2;
    }
    return *Found ? int64_t(**Found) : -1;
  }
  std::string Said;
};

} // namespace

TEST(NumberTest, WhatIsPrintedCanBeRead) {
  for (uint64_t Number : {uint64_t(0), uint64_t(7), uint64_t(999),
                          uint64_t(1000), uint64_t(1234567), UINT64_MAX}) {
    EXPECT_EQ(query::parseNumber(groupedDigits(Number)), Number);
    EXPECT_EQ(query::parseNumber(std::to_string(Number)), Number);
  }
  EXPECT_EQ(query::parseNumber("0x10"), 16u);
  EXPECT_EQ(query::parseNumber("010"), 10u);
  for (StringRef Text :
       {"", ",", "1,", ",1", "1,23", "12,34", "1,2345", "1234,567", "1,,234",
        "1 234", "-1", "+1", "1.5", "0x", "18446744073709551616", "x"})
    EXPECT_EQ(query::parseNumber(Text), std::nullopt) << Text.str();
}

TEST_F(MomentTextTest, Timestamps) {
  EXPECT_EQ(moment("0"), 0);
  EXPECT_EQ(moment("1,080"), 1080);
  EXPECT_EQ(moment("1,081"), -2);
  EXPECT_EQ(Said, "the run ends at 1,080; there is no moment 1,081");
  EXPECT_EQ(moment("start"), 0);
  EXPECT_EQ(moment("end"), 1080);
  EXPECT_EQ(moment("crash"), -2);
}

TEST_F(MomentTextTest, Percentages) {
  EXPECT_EQ(moment("0%"), 0);
  EXPECT_EQ(moment("100%"), 1080);
  EXPECT_EQ(moment("100.000%"), 1080);
  EXPECT_EQ(moment("50%"), 540);
  EXPECT_EQ(moment("99.9%"), 1078); // 1078.92
  EXPECT_EQ(moment("0.0925%"), 0);  // 0.999
  EXPECT_EQ(moment("0.0926%"), 1);  // 1.00008
  for (StringRef Text : {"100.1%", "101%", "%", ".5%", "1.2.3%", "-1%",
                         "1,000%", "1e1%", "5 %", "0.0000000000000000000001%"})
    EXPECT_EQ(moment(Text), -1) << Text.str();
}

TEST_F(MomentTextTest, FromNow) {
  EXPECT_EQ(moment("+10", 100), 110);
  EXPECT_EQ(moment("-10", 100), 90);
  EXPECT_EQ(moment("-1,000", 1050), 50);
  EXPECT_EQ(moment("-1,000", 100), 0);
  EXPECT_EQ(moment("+1,000", 100), 1080);
  EXPECT_EQ(moment("+10"), -1);
  EXPECT_EQ(moment("+", 100), -1);
}
