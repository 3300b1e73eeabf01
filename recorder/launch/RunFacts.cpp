// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "recorder/launch/RunFacts.h"
#include "trace-format/Text.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"
#include <ctime>
#include <sys/utsname.h>
#include <thread>
#include <unistd.h>

using namespace llvm;

namespace chronicle::launch {

static json::Array textArray(ArrayRef<const char *> Strings) {
  json::Array Array;
  for (const char *S : Strings)
    Array.push_back(shownText(S));
  return Array;
}

static std::string cpuModel() {
  auto Buffer = MemoryBuffer::getFileAsStream("/proc/cpuinfo");
  if (!Buffer)
    return "unknown";
  for (line_iterator Line(**Buffer), End; Line != End; ++Line)
    if (Line->starts_with("model name"))
      return shownText(Line->split(':').second.trim());
  return "unknown";
}

static json::Object hostFacts() {
  struct utsname Name;
  uname(&Name);
  return json::Object{{"name", shownText(Name.nodename)},
                      {"system", std::string(Name.sysname)},
                      {"release", std::string(Name.release)},
                      {"machine", std::string(Name.machine)},
                      {"cpu", cpuModel()},
                      {"cores", int64_t(std::thread::hardware_concurrency())}};
}

static json::Object processFacts(const FollowedProcess &P) {
  json::Object Facts{{"number", P.Number},
                     {"pid", P.Process},
                     {"parent", P.Parent},
                     {"parent-pid", P.ParentProcess},
                     {"how", P.ForkedAt   ? "fork"
                             : P.Replaced ? "exec"
                                          : "spawn"}};
  if (P.ForkedAt) {
    Facts["forked-at"] = *P.ForkedAt;
    Facts["forked-by"] = P.ForkedBy;
    Facts["auxiliary-vector"] = P.Auxiliary;
  }
  return Facts;
}

json::Object runFacts(const ProgramFile &Program,
                      ArrayRef<const char *> Arguments, json::Object Options,
                      const std::optional<FollowedProcess> &Followed) {
  std::vector<const char *> Environment;
  SmallString<128> Directory;
  if (Followed) {
    for (const std::string &Variable : Followed->Environment)
      Environment.push_back(Variable.c_str());
    Directory = Followed->Directory;
  } else {
    for (char **Entry = environ; *Entry; ++Entry)
      Environment.push_back(*Entry);
    if (sys::fs::current_path(Directory))
      Directory.clear(); // it was removed
  }
  struct timespec Now;
  clock_gettime(CLOCK_REALTIME, &Now);
  json::Object Run{{"program", shownText(Program.Path)},
                   {"arguments", textArray(Arguments)},
                   {"environment", textArray(Environment)},
                   {"directory", shownText(Directory)},
                   {"host", hostFacts()},
                   {"started", double(Now.tv_sec) + double(Now.tv_nsec) / 1e9},
                   {"chronicle", CHRONICLE_VERSION},
                   {"valgrind", valgrindVersion()},
                   {"options", std::move(Options)}};
  if (Followed)
    Run["process"] = processFacts(*Followed);
  if (!json::isUTF8(Program.Path))
    Run["program-bytes"] = toHex(Program.Path, /*LowerCase=*/true);
  if (!Program.Interpreter.empty())
    Run["interpreter"] = shownText(Program.Interpreter);
  return Run;
}

StringRef valgrindVersion() { return CHRONICLE_VALGRIND_VERSION; }

} // namespace chronicle::launch
