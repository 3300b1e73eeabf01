// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// `chronicle debug`: opens a trace in LLDB, without any set-up.

#include "lldb-plugin/places/LldbPlaces.h"
#include "trace-format/file/PieceFile.h"
#include "utils/chronicle/FileFlags.h"
#include "utils/chronicle/Subcommand.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cerrno>
#include <cstdlib>
#include <unistd.h>

using namespace llvm;

namespace chronicle::cli {

static int run(ArrayRef<const char *> Words);
static Command
    Debug({.Name = "debug",
           .Summary = "open a trace in LLDB",
           .Arguments = "[options] trace.db [lldb arguments]",
           .Details =
               "Starts LLDB 22 with Chronicle's plugin. The trace is a process "
               "that is stopped at the end of the\nrun, or at the moment that "
               "--at names. Arguments after the trace are passed to LLDB.",
           .Examples = "  chronicle debug trace.db\n"
                       "  chronicle debug --at 99.8% trace.db\n"
                       "  chronicle debug --process cc1 trace.db\n"
                       "  chronicle debug --sysroot files trace.db\n"
                       "  chronicle debug trace.db -o bt\n",
           .Statuses = {{"LLDB's", "LLDB was started."},
                        {"2", "The trace or LLDB was not found, or an option "
                              "is wrong."}},
           .Run = run,
           .TakesProgram = true});

static cl::opt<bool>
    Debuginfod("debuginfod", cl::sub(Debug),
               cl::desc("Let LLDB ask debuginfod servers for symbols"));

static cl::opt<std::string>
    At("at", cl::sub(Debug), cl::value_desc("MOMENT"),
       cl::desc("Stop at MOMENT: start, end (the default), crash, 1,234, 99.8% "
                "or a bookmark"));

static FileFlags Files(Debug);
static ProcessFlag Process(Debug);
static cl::list<std::string>
    SourceMap("source-map", cl::sub(Debug), cl::value_desc("FROM=TO"),
              cl::desc("Sources of FROM are in TO; may be repeated"));

/// The options of the LLDB command that loads the trace.
static std::string loadOptions() {
  std::string Text;
  auto Add = [&](StringRef Name, StringRef Value) {
    Text += (" --" + Name + " " + places::quoteForLldb(Value)).str();
  };
  if (!Files.Sysroot.empty())
    Add("sysroot", Files.Sysroot);
  for (const std::string &Directory : Files.DebugDirectories)
    Add("debug-directory", Directory);
  for (const std::string &Mapping : SourceMap)
    Add("source-map", Mapping);
  if (Debuginfod)
    Text += " --debuginfod";
  return Text;
}

/// One of this command's options that stands after the trace, where LLDB's
/// options are; empty: there is none.
static StringRef misplacedOption(ArrayRef<const char *> LldbWords) {
  for (StringRef Word : LldbWords) {
    if (Word == "--")
      break;
    StringRef Name = Word;
    if (!Name.consume_front("--"))
      continue;
    Name = Name.split('=').first;
    if (Name != "help" && Name != "color" && Debug.OptionsMap.contains(Name))
      return Word;
  }
  return "";
}

static int run(ArrayRef<const char *> Words) {
  if (Words.empty())
    return failNoTrace(Debug);
  std::string Trace = Words.front();
  if (StringRef Word = misplacedOption(Words.drop_front()); !Word.empty())
    return failUsage(Debug, "'" + Word +
                                "' must stand before the trace: what "
                                "follows the trace is for LLDB");
  if (Error E = Process.choose(Trace))
    return fail(Debug, 2, std::move(E));
  // LLDB would start, and go on without the trace.
  if (Expected<std::unique_ptr<MemoryBuffer>> File = file::openTraceFile(Trace);
      !File)
    return fail(Debug, 2, File.takeError());
  if (std::string Wrong = Files.wrong(); !Wrong.empty())
    return failUsage(Debug, Wrong);
  for (StringRef Mapping : SourceMap)
    if (Mapping.split('=').first.empty() || Mapping.split('=').second.empty())
      return failUsage(Debug, "invalid --source-map '" + Mapping +
                                  "': expected FROM=TO, two directories");
  Expected<std::string> Lldb = places::findLldb();
  if (!Lldb)
    return fail(Debug, 2, Lldb.takeError());
  Expected<std::string> Plugin = places::findLldbPlugin();
  if (!Plugin)
    return fail(Debug, 2, Plugin.takeError());
  std::string LoadPlugin = places::pluginLoadLine(*Plugin);
  std::string LoadTrace =
      "chronicle load " + places::quoteForLldb(Trace) + loadOptions() +
      (At.empty() ? "" : " --at " + places::quoteForLldb(At));
  SmallVector<const char *, 16> Arguments = {
      Lldb->c_str(), "-O", LoadPlugin.c_str(), "-o", LoadTrace.c_str()};
  // LLDB 22 does not look at this variable by itself.
  if (!StringRef(getenv("NO_COLOR")).empty())
    Arguments.push_back("--no-use-colors");
  Arguments.append(Words.begin() + 1, Words.end());
  Arguments.push_back(nullptr);
  execv(Lldb->c_str(), const_cast<char *const *>(Arguments.data()));
  return fail(Debug, 2, "cannot start " + *Lldb + ": " + sys::StrError());
}

} // namespace chronicle::cli
