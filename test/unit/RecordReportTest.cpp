// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/RecordReport.h"
#include "gtest/gtest.h"
#include <csignal>

using namespace chronicle;
using namespace llvm;

namespace {

cli::RecordResult sample() {
  cli::RecordResult R;
  R.Program = "./prog";
  R.Trace = "trace.db";
  R.Index.Instructions = 1234567;
  R.Index.Superblocks = 1;
  R.Index.Threads = 2;
  R.Index.Events = 3000;
  R.Index.FileBytes = 1 << 20;
  R.Index.Reason = "exit";
  R.End = {false, 3, 1000, false};
  R.Seconds = 2;
  return R;
}

std::string summaryText(const cli::RecordResult &R) {
  std::string Text;
  raw_string_ostream Out(Text);
  cli::printSummary(Out, R);
  return Text;
}

TEST(RecordReportTest, Text) {
  EXPECT_EQ(summaryText(sample()),
            "chronicle: recorded ./prog into trace.db\n"
            "  1,234,567 instructions in 2.00 s (617 k per second), "
            "1 superblock, 2 threads, 3,000 events\n"
            "  1.00 MiB, 0.849 bytes per instruction\n"
            "  the program exited with status 3\n"
            "Next: chronicle debug trace.db\n");
}

TEST(RecordReportTest, TheNextCommandCanBePasted) {
  cli::RecordResult R = sample();
  R.Trace = "it's here/trace 1.db";
  EXPECT_TRUE(
      StringRef(summaryText(R))
          .ends_with("\nNext: chronicle debug 'it'\\''s here/trace 1.db'\n"));
}

TEST(RecordReportTest, NothingRecordedDividesNothing) {
  cli::RecordResult R = sample();
  R.Index.Instructions = 0;
  R.Seconds = 0;
  EXPECT_NE(summaryText(R).find("0.000 bytes per instruction"),
            std::string::npos);
}

TEST(RecordReportTest, Endings) {
  auto LastLine = [](const cli::RecordResult &R) {
    const std::string Text = summaryText(R);
    return StringRef(Text)
        .split("\nNext: ")
        .first.rsplit('\n')
        .second.trim()
        .str();
  };
  cli::RecordResult R = sample();
  R.End = {true, SIGSEGV, 0, false};
  R.Index.Reason = "signal";
  EXPECT_EQ(LastLine(R), "the program died of SIGSEGV");
  R.Place = "parse at parse.c:12";
  EXPECT_EQ(LastLine(R), "the program died of SIGSEGV in parse at parse.c:12");
  R = sample();
  R.Index.Reason = "exec";
  EXPECT_EQ(LastLine(R), "the program replaced itself with another program, "
                         "which was not recorded and exited with status 3");
  R.Index.Reason = "disk-full";
  EXPECT_EQ(LastLine(R), "the program exited with status 3, after the end of "
                         "the trace");
  R.End = {true, SIGKILL, 0, true};
  R.Index.Reason = "stopped";
  EXPECT_EQ(LastLine(R), "the recording was interrupted and the program was "
                         "ended");
}

TEST(RecordReportTest, MessagesAreFewInTextAndAllInJson) {
  cli::RecordResult R = sample();
  for (int I = 0; I < 7; ++I)
    R.Messages.push_back("message " + std::to_string(I));
  std::string Text = summaryText(R);
  EXPECT_NE(Text.find("  valgrind: message 4\n"), std::string::npos);
  EXPECT_EQ(Text.find("message 5"), std::string::npos);
  EXPECT_NE(Text.find("  valgrind: 2 more lines (shown by --json)\n"),
            std::string::npos);
  EXPECT_EQ(summaryJson(R).getArray("messages")->size(), 7u);
}

// Not Object::getNull(): compilers disagree on how it returns its result.
bool isNull(const json::Object &O, StringRef Key) {
  const json::Value *V = O.get(Key);
  return V && V->kind() == json::Value::Null;
}

TEST(RecordReportTest, Json) {
  cli::RecordResult R = sample();
  json::Object J = cli::summaryJson(R);
  EXPECT_EQ(J.getString("program"), StringRef("./prog"));
  EXPECT_EQ(J.getString("trace"), StringRef("trace.db"));
  EXPECT_EQ(J.getInteger("instructions"), 1234567);
  EXPECT_EQ(J.getInteger("superblocks"), 1);
  EXPECT_EQ(J.getInteger("threads"), 2);
  EXPECT_EQ(J.getInteger("events"), 3000);
  EXPECT_EQ(J.getInteger("bytes"), 1 << 20);
  EXPECT_EQ(J.getInteger("exit-status"), 3);
  EXPECT_TRUE(isNull(J, "signal"));
  EXPECT_TRUE(isNull(J, "failure"));
  EXPECT_EQ(J.getInteger("peak-program-kb"), 1000);
  EXPECT_EQ(J.getString("reason"), StringRef("exit"));
  R.End = {true, 11, 0, false};
  R.Index.Failure = "no space";
  J = cli::summaryJson(R);
  EXPECT_TRUE(isNull(J, "exit-status"));
  EXPECT_EQ(J.getInteger("signal"), 11);
  EXPECT_EQ(J.getString("failure"), StringRef("no space"));
}

} // namespace
