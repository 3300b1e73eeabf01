// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/Terminal.h"
#include "gtest/gtest.h"
#include <fcntl.h>
#include <unistd.h>

using namespace chronicle;

namespace {

TEST(TerminalTest, Bytes) {
  EXPECT_EQ(cli::humanBytes(0), "0 B");
  EXPECT_EQ(cli::humanBytes(1000), "1000 B");
  EXPECT_EQ(cli::humanBytes(1536), "1.50 KiB");
  EXPECT_EQ(cli::humanBytes(10 << 20), "10.0 MiB");
  EXPECT_EQ(cli::humanBytes(117ull << 30), "117 GiB");
}

TEST(TerminalTest, Counts) {
  EXPECT_EQ(cli::humanCount(0), "0");
  EXPECT_EQ(cli::humanCount(999), "999");
  EXPECT_EQ(cli::humanCount(12345), "12.3 k");
  EXPECT_EQ(cli::humanCount(999999), "1.00 M");
  EXPECT_EQ(cli::humanCount(7.891e9), "7.89 G");
}

TEST(TerminalTest, Durations) {
  EXPECT_EQ(cli::humanDuration(0.123), "0.12 s");
  EXPECT_EQ(cli::humanDuration(45.6), "45.6 s");
  EXPECT_EQ(cli::humanDuration(200), "3 min 20 s");
  EXPECT_EQ(cli::humanDuration(7500), "2 h 05 min");
}

TEST(TerminalTest, Digits) {
  EXPECT_EQ(groupedDigits(0), "0");
  EXPECT_EQ(groupedDigits(999), "999");
  EXPECT_EQ(groupedDigits(1000), "1,000");
  EXPECT_EQ(groupedDigits(1234567), "1,234,567");
}

TEST(TerminalTest, Bar) {
  EXPECT_EQ(cli::drawBar(0, 10), "[----------]");
  EXPECT_EQ(cli::drawBar(0.5, 10), "[#####-----]");
  EXPECT_EQ(cli::drawBar(1, 10), "[##########]");
  EXPECT_EQ(cli::drawBar(7, 10), "[##########]");
}

/// Standard error is a file while it lives.
class ErrorToFile {
public:
  ErrorToFile()
      : Saved(dup(2)),
        File(open(testing::TempDir().c_str(), O_TMPFILE | O_RDWR, 0600)) {
    dup2(File, 2);
  }
  ~ErrorToFile() {
    dup2(Saved, 2);
    close(Saved);
    close(File);
  }
  off_t written() const { return lseek(File, 0, SEEK_CUR); }

private:
  int Saved, File;
};

TEST(TerminalTest, NothingIsShownWithoutATerminal) {
  ErrorToFile Error;
  cli::LiveLine Line;
  EXPECT_FALSE(Line.enabled());
  Line.update("text");
  Line.clear();
  cli::ProgressBar Bar("bar");
  EXPECT_FALSE(Bar.enabled());
  Bar.update(1, 2, "note");
  EXPECT_EQ(Error.written(), 0);
}

} // namespace
