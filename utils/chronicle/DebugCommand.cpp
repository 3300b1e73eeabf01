// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// `chronicle debug`: LLDB on a trace, with nothing to set up.

#include "utils/chronicle/Command.h"
#include "lldb-plugin/LldbPlaces.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include <cerrno>
#include <unistd.h>

using namespace llvm;

namespace chronicle {

static int run(ArrayRef<const char *> Words);
static Command Debug(
    {.Name = "debug",
     .Summary = "open a trace in LLDB",
     .Arguments = "trace.db [lldb arguments]",
     .Details = "Starts LLDB 22 with Chronicle's plugin and the trace as a "
                "process, stopped at the end of the run. What follows the "
                "trace goes to LLDB. Exit status: LLDB's, or 2 if it cannot "
                "be started.",
     .Examples = "  chronicle debug trace.db\n"
                 "  chronicle debug trace.db -o bt\n",
     .Run = run,
     .TakesProgram = true});

static int run(ArrayRef<const char *> Words) {
  if (Words.empty())
    return failUsage(
        Debug, "which trace? name the file that 'chronicle record' wrote");
  StringRef Trace = Words.front();
  if (!sys::fs::exists(Trace))
    return fail(Debug, 2, "there is no file " + Trace);
  Expected<std::string> Lldb = findLldb();
  if (!Lldb)
    return fail(Debug, 2, Lldb.takeError());
  Expected<std::string> Plugin = findLldbPlugin();
  if (!Plugin)
    return fail(Debug, 2, Plugin.takeError());
  std::string LoadPlugin = pluginLoadLine(*Plugin);
  std::string LoadTrace = "chronicle load " + quoteForLldb(Trace);
  SmallVector<const char *, 16> Arguments = {
      Lldb->c_str(), "-O", LoadPlugin.c_str(), "-o", LoadTrace.c_str()};
  Arguments.append(Words.begin() + 1, Words.end());
  Arguments.push_back(nullptr);
  execv(Lldb->c_str(), const_cast<char *const *>(Arguments.data()));
  return fail(Debug, 2, "cannot start " + *Lldb + ": " + sys::StrError());
}

} // namespace chronicle
