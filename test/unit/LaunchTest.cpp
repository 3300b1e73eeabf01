// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The launcher's small parts: ring, recorder's command line, its log, run
// facts.

#include "recorder/launch/RecorderCommand.h"
#include "recorder/launch/RecorderLog.h"
#include "recorder/launch/RunFacts.h"
#include "recorder/launch/SharedRing.h"
#include "gtest/gtest.h"
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

using namespace chronicle;
using namespace llvm;

namespace {

TEST(SharedRingTest, LayoutHoldsABlock) {
  for (uint32_t N :
       {launch::MinBlockInstructions, launch::DefaultBlockInstructions,
        launch::MaxBlockInstructions}) {
    ch_ring_header H = launch::ringLayout(N, 3);
    EXPECT_EQ(H.magic, CH_RING_MAGIC);
    EXPECT_EQ(H.version, unsigned(CH_STREAM_VERSION));
    EXPECT_EQ(H.block_instructions, N);
    EXPECT_EQ(H.chunk_count, 3u);
    EXPECT_GE(H.run_bytes, 4ull * (N + 8192));
    EXPECT_GE(H.store_bytes, uint64_t(N) * CH_STORE_BYTES_PER_INSTRUCTION +
                                 CH_MAX_SLOTS * CH_SLOT_SIZE);
    EXPECT_EQ(H.run_bytes % CH_PAGE_SIZE, 0u);
    EXPECT_EQ(H.event_bytes % CH_PAGE_SIZE, 0u);
    EXPECT_EQ(H.store_bytes % CH_PAGE_SIZE, 0u);
    EXPECT_EQ(H.chunk_stride % CH_PAGE_SIZE, 0u);
    EXPECT_GE(H.chunk_stride, sizeof(ch_chunk_header) + H.run_bytes +
                                  H.event_bytes + H.store_bytes);
    EXPECT_EQ(launch::ringBytes(H), CH_RING_HEADER_SIZE + 3 * H.chunk_stride);
    EXPECT_EQ(H.published, 0u);
    EXPECT_EQ(H.consumed, 0u);
  }
}

TEST(SharedRingTest, IsAsLongAsMemoryAllows) {
  EXPECT_EQ(launch::defaultRingChunks(launch::MinBlockInstructions), 128u);
  EXPECT_EQ(launch::defaultRingChunks(launch::DefaultBlockInstructions), 128u);
  const uint32_t Fewer = launch::defaultRingChunks(2'000'000);
  EXPECT_GT(Fewer, 8u);
  EXPECT_LE(launch::ringBytes(launch::ringLayout(2'000'000, Fewer)),
            (1u << 30) + CH_RING_HEADER_SIZE);
  EXPECT_EQ(launch::defaultRingChunks(launch::MaxBlockInstructions), 8u);
}

TEST(SharedRingTest, MemoryIsSharedThroughTheDescriptor) {
  launch::SharedRing R =
      cantFail(launch::SharedRing::create(launch::MinBlockInstructions, 2));
  EXPECT_TRUE(fcntl(R.descriptor(), F_GETFD) & FD_CLOEXEC);
  ch_ring_header H;
  ASSERT_EQ(pread(R.descriptor(), &H, sizeof(H), 0), ssize_t(sizeof(H)));
  EXPECT_EQ(H.magic, CH_RING_MAGIC);
  EXPECT_EQ(launch::ringBytes(H), R.size());
  EXPECT_EQ(lseek(R.descriptor(), 0, SEEK_END), off_t(R.size()));
}

TEST(SharedRingTest, UsedOnceTheFirstChunkHasWordsOrIsPublished) {
  launch::SharedRing A =
      cantFail(launch::SharedRing::create(launch::MinBlockInstructions, 2));
  EXPECT_FALSE(A.used());
  auto *Memory = static_cast<char *>(A.memory());
  *reinterpret_cast<ch_u32 *>(Memory + CH_RING_HEADER_SIZE +
                              sizeof(ch_chunk_header)) = CH_RUN_EVENT;
  EXPECT_TRUE(A.used());
  launch::SharedRing B =
      cantFail(launch::SharedRing::create(launch::MinBlockInstructions, 2));
  static_cast<ch_ring_header *>(B.memory())->published = 1;
  EXPECT_TRUE(B.used());
}

TEST(RecorderCommandTest, ProgramFollowsTheOptions) {
  launch::RecorderCommand C;
  C.Tool = "/x/tool";
  C.Launcher = "/x/chronicle";
  C.LogLoads = "never";
  C.RingDescriptor = 7;
  C.LogDescriptor = 9;
  C.Program = {"-strange", "--", "a b"};
  std::vector<std::string> Line = C.commandLine();
  EXPECT_EQ(Line.front(), "/x/tool");
  auto Has = [&](const char *Word) {
    return std::count(Line.begin(), Line.end() - 4, Word) == 1;
  };
  EXPECT_TRUE(Has("--ring-fd=7"));
  EXPECT_TRUE(Has("--log-fd=9"));
  EXPECT_TRUE(Has("--hide-fd=9"));
  EXPECT_TRUE(Has("--log-loads=never"));
  EXPECT_TRUE(Has("--command-line-only=yes"));
  EXPECT_EQ(std::vector<std::string>(Line.end() - 4, Line.end()),
            (std::vector<std::string>{"--", "-strange", "--", "a b"}));
}

TEST(RecorderCommandTest, EnvironmentNamesTheLauncherOnce) {
  setenv("VALGRIND_LAUNCHER", "/old", 1);
  launch::RecorderCommand C;
  C.Launcher = "/x/chronicle";
  std::vector<std::string> Environment = C.environment();
  unsetenv("VALGRIND_LAUNCHER");
  size_t Count = 0, Variables = 0;
  for (const std::string &Entry : Environment)
    Count += StringRef(Entry).starts_with("VALGRIND_LAUNCHER=");
  for (char **Entry = environ; *Entry; ++Entry)
    ++Variables;
  EXPECT_EQ(Count, 1u);
  EXPECT_EQ(Environment.back(), "VALGRIND_LAUNCHER=/x/chronicle");
  EXPECT_EQ(Environment.size(), Variables + 1);
}

TEST(RecorderCommandTest, ToolIsBesideTheProgram) {
  EXPECT_EQ(launch::recorderPath("/opt/c/bin/chronicle"),
            "/opt/c/libexec/chronicle/chronicle-amd64-linux");
}

TEST(RecorderLogTest, MessagesWithoutPrefixes) {
  EXPECT_EQ(
      launch::logMessages("==12== one\n\n--3-- two\n**4** three\n"
                          "valgrind: four\n==12== \nfive == 6\n==x== seven"),
      (std::vector<std::string>{"one", "two", "three", "four", "five == 6",
                                "==x== seven"}));
  EXPECT_TRUE(launch::logMessages("").empty());
}

TEST(RecorderLogTest, NamesWhatValgrindCannotDo) {
  EXPECT_EQ(launch::fatalMessage(launch::logMessages(
                "==7== Unsupported clone() flags: 0x200\n"
                "==7== Valgrind detected that your program requires\n"
                "==7== the following unimplemented functionality:\n"
                "==7==    Valgrind does not support general clone().\n"
                "==7== Valgrind has to exit now.  Sorry.  Bye!\n"
                "==7==    by 0x10: ???\n")),
            "Valgrind does not support general clone().");
}

TEST(RecorderLogTest, ReadsWithoutMovingTheWriter) {
  launch::RecorderLog Log = cantFail(launch::RecorderLog::create());
  EXPECT_TRUE(Log.messages().empty());
  ASSERT_EQ(write(Log.descriptor(), "a\n", 2), 2);
  EXPECT_EQ(Log.messages().size(), 1u);
  ASSERT_EQ(write(Log.descriptor(), "b\n", 2), 2);
  EXPECT_EQ(Log.messages(), (std::vector<std::string>{"a", "b"}));
}

TEST(RunFactsTest, HasWhatTheFormatPromises) {
  launch::ProgramFile Program;
  Program.Typed = "prog";
  Program.Path = "/x/prog";
  const char *Arguments[] = {"prog", "\xff"};
  setenv("CHRONICLE_TEST_VARIABLE", "value", 1);
  json::Object Run =
      launch::runFacts(Program, Arguments, json::Object{{"level", 3}});
  unsetenv("CHRONICLE_TEST_VARIABLE");
  EXPECT_EQ(Run.getString("program"), StringRef("/x/prog"));
  const json::Array *Line = Run.getArray("arguments");
  ASSERT_TRUE(Line);
  ASSERT_EQ(Line->size(), 2u);
  EXPECT_EQ((*Line)[0].getAsString(), StringRef("prog"));
  EXPECT_EQ((*Line)[1].getAsString(), StringRef("\xef\xbf\xbd"));
  const json::Array *Environment = Run.getArray("environment");
  ASSERT_TRUE(Environment);
  EXPECT_TRUE(llvm::is_contained(*Environment,
                                 json::Value("CHRONICLE_TEST_VARIABLE=value")));
  char Directory[4096];
  EXPECT_EQ(Run.getString("directory"), StringRef(getcwd(Directory, 4096)));
  const json::Object *Host = Run.getObject("host");
  ASSERT_TRUE(Host);
  for (const char *Key : {"system", "release", "machine", "cpu"})
    EXPECT_TRUE(Host->getString(Key).value_or("").size()) << Key;
  EXPECT_EQ(Host->getString("machine"), StringRef("x86_64"));
  EXPECT_NEAR(*Run.getNumber("started"), double(time(nullptr)), 5);
  EXPECT_EQ(Run.getString("chronicle"), StringRef(CHRONICLE_VERSION));
  EXPECT_TRUE(Run.getString("valgrind").value_or("").starts_with("3."));
  EXPECT_EQ(Run.getObject("options")->getInteger("level"), 3);
  EXPECT_FALSE(Run.get("interpreter"));
  Program.Interpreter = "/bin/sh";
  EXPECT_EQ(runFacts(Program, Arguments, {}).getString("interpreter"),
            StringRef("/bin/sh"));
}

} // namespace
