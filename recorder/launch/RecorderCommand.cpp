// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "recorder/launch/RecorderCommand.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <optional>
#include <sys/resource.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle::launch {

static constexpr const char LauncherVariable[] = "VALGRIND_LAUNCHER=";

/// How large the stack of the main thread may become. Valgrind reserves that
/// much of the address space, and without an option at most 16 MiB, however
/// large the limit is. Nothing: that is enough.
static std::optional<uint64_t> mainStackSize() {
  constexpr uint64_t Default = 16 << 20, Most = 1 << 30;
  rlimit Limit;
  if (getrlimit(RLIMIT_STACK, &Limit) != 0 || Limit.rlim_cur <= Default)
    return std::nullopt;
  return std::min<uint64_t>(Limit.rlim_cur, Most);
}

std::vector<std::string> RecorderCommand::commandLine() const {
  std::string Log = std::to_string(LogDescriptor);
  std::vector<std::string> Line{
      Tool,
      // Valgrind uses the name only to find libraries to preload. There are
      // none of this name.
      "--tool=chronicle", "-q", "--command-line-only=yes", "--vgdb=no",
      "--trace-children=no", "--child-silent-after-fork=yes",
      "--sigill-diagnostics=no",
      // The size of a table. Some programs have more threads than the default
      // of 500.
      "--max-threads=4000", "--log-fd=" + Log,
      // Valgrind's core keeps a copy where the program cannot see it, and the
      // tool closes the original.
      "--hide-fd=" + Log, "--ring-fd=" + std::to_string(RingDescriptor),
      "--log-loads=" + LogLoads};
  if (std::optional<uint64_t> Stack = mainStackSize())
    Line.push_back("--main-stacksize=" + std::to_string(*Stack));
  if (ControlDescriptor >= 0) {
    Line.push_back("--control-fd=" + std::to_string(ControlDescriptor));
    Line.push_back("--lifeline-fd=" + std::to_string(LifelineDescriptor));
  }
  if (RecordForks)
    Line.emplace_back("--record-forks=yes");
  if (!TranslationDescriptors.empty())
    Line.push_back("--translations=" +
                   join(map_range(TranslationDescriptors,
                                  [](int Descriptor) {
                                    return std::to_string(Descriptor);
                                  }),
                        ","));
  if (Chaos)
    Line.push_back("--chaos=" + std::to_string(*Chaos));
  if (KeepTranslations)
    Line.emplace_back("--keep-translations=yes");
  Line.emplace_back("--");
  Line.insert(Line.end(), Program.begin(), Program.end());
  return Line;
}

std::vector<int> RecorderCommand::descriptors() const {
  std::vector<int> All{RingDescriptor, LogDescriptor};
  if (ControlDescriptor >= 0)
    All.insert(All.end(), {ControlDescriptor, LifelineDescriptor});
  All.insert(All.end(), TranslationDescriptors.begin(),
             TranslationDescriptors.end());
  return All;
}

std::vector<std::string> RecorderCommand::environment() const {
  std::vector<std::string> Environment;
  for (char **Entry = environ; *Entry; ++Entry)
    if (!StringRef(*Entry).starts_with(LauncherVariable))
      Environment.emplace_back(*Entry);
  Environment.push_back(LauncherVariable + Launcher);
  return Environment;
}

std::string recorderPath(StringRef Executable) {
  SmallString<128> Path(
      sys::path::parent_path(sys::path::parent_path(Executable)));
  sys::path::append(Path, "libexec", "chronicle", "chronicle-amd64-linux");
  return std::string(Path);
}

} // namespace chronicle::launch
