// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RecordedRun.h"
#include "indexer/Indexer.h"
#include "recorder/launch/RecorderCommand.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle {

static ExitOnError Check("micro-benchmarks: ");

[[noreturn]] static void fail(const Twine &Why) {
  errs() << "micro-benchmarks: " << Why << '\n';
  std::exit(1);
}

/// Changes per run of the workload; see workloads/map.cpp.
static constexpr const char Amount[] = "2500";
/// More chunks than the run has blocks, so that none has to be consumed while
/// it is recorded. Only chunks that are used take memory.
static constexpr uint32_t Chunks = 400;

/// Runs the workload with the recorder writing into the ring.
static launch::SharedRing recordStream() {
  launch::SharedRing Stream = Check(
      launch::SharedRing::create(launch::DefaultBlockInstructions, Chunks));
  const int Log = open("/dev/null", O_WRONLY);
  launch::RecorderCommand Command;
  Command.Tool = CHRONICLE_TOOL;
  Command.Launcher = CHRONICLE_PROGRAM;
  Command.LogLoads = "auto";
  Command.RingDescriptor = dup(Stream.descriptor()); // without close-on-exec
  Command.LogDescriptor = Log;
  Command.Program = {BENCHMARK_WORKLOAD, Amount};
  std::vector<std::string> Line = Command.commandLine(),
                           Environment = Command.environment();
  std::vector<char *> Arguments, Variables;
  for (std::string &Word : Line)
    Arguments.push_back(Word.data());
  for (std::string &Entry : Environment)
    Variables.push_back(Entry.data());
  Arguments.push_back(nullptr);
  Variables.push_back(nullptr);
  posix_spawn_file_actions_t Actions;
  posix_spawn_file_actions_init(&Actions);
  posix_spawn_file_actions_addopen(&Actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t Process;
  if (int E = posix_spawn(&Process, Command.Tool.c_str(), &Actions, nullptr,
                          Arguments.data(), Variables.data()))
    fail("cannot run the recorder: " + Twine(strerror(E)));
  posix_spawn_file_actions_destroy(&Actions);
  int Status = 0;
  if (waitpid(Process, &Status, 0) != Process || Status != 0)
    fail("the recorder ended with status " + Twine(Status));
  close(Command.RingDescriptor);
  close(Log);
  return Stream;
}

RingCopy::RingCopy(const launch::SharedRing &Original)
    : Memory(mmap(nullptr, Original.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE,
                  Original.descriptor(), 0)),
      Size(Original.size()) {
  if (Memory == MAP_FAILED)
    fail("cannot map the stream");
  // Published chunks get their pages now and not while indexing.
  const auto *Header = static_cast<const ch_ring_header *>(Original.memory());
  const size_t Used =
      CH_RING_HEADER_SIZE + Header->published * Header->chunk_stride;
  for (size_t At = 0; At < std::min(Used, Size); At += CH_PAGE_SIZE) {
    volatile char *Page = static_cast<char *>(Memory) + At;
    *Page = *Page;
  }
}

RingCopy::~RingCopy() { munmap(Memory, Size); }

uint64_t indexStream(const RingCopy &Stream, StringRef Path) {
  indexer::IndexerOptions Options;
  Options.Path = Path.str();
  Options.Overwrite = true;
  Options.Run = json::Object{{"program", BENCHMARK_WORKLOAD}};
  auto Index =
      Check(indexer::Indexer::create(Options, Stream.memory(), Stream.size()));
  Index->run();
  indexer::EndInfo End;
  End.ExitStatus = 0;
  indexer::IndexSummary Summary = Check(Index->finish(End));
  if (!Summary.Failure.empty())
    fail(Summary.Failure);
  return Summary.Instructions;
}

RecordedRun::RecordedRun() : Stream(recordStream()) {
  SmallString<128> Path;
  if (std::error_code E =
          sys::fs::createTemporaryFile("micro-benchmarks", "db", Path))
    fail("cannot make a temporary file: " + E.message());
  indexStream(RingCopy(Stream), Path);
  Trace = Check(file::TraceReader::open(Path));
  // It is mapped, and is gone when this process ends.
  (void)sys::fs::remove(Path);
  for (BlockNumber N = 1; N < Trace->blocks().size(); ++N)
    Blocks.push_back(Check(Trace->readBlock(N)));
}

const RecordedRun &RecordedRun::get() {
  static const RecordedRun Run;
  return Run;
}

} // namespace chronicle
