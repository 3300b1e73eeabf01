// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// `chronicle query`: questions about a trace, in JSON lines.

#include "query/SessionServer.h"
#include "query/Trace.h"
#include "utils/chronicle/Command.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

using namespace llvm;

namespace chronicle {

static int run(ArrayRef<const char *>);
static Command Query(
    {.Name = "query",
     .Summary = "answer questions about a trace, in JSON",
     .Arguments = "[options] trace.db [request]",
     .Details =
         "Reads requests from standard input, one JSON object a line, and "
         "writes the answers to standard output, one a line, each with the "
         "request's \"id\". With a request as argument it answers that one. "
         "docs/query.md describes the requests.\n\n"
         "Exit status: 0; 1 if the one request could not be answered or "
         "nobody reads the answers; 2 if the trace cannot be read or the "
         "socket cannot be made.",
     .Examples = "  chronicle query trace.db "
                 "'{\"cmd\":\"call-stack\",\"at\":\"end\"}'\n"
                 "  chronicle query trace.db < requests > answers\n"
                 "  chronicle query --listen /tmp/chronicle.socket trace.db\n",
     .Run = run});
static cl::opt<std::string> Path(cl::Positional, cl::sub(Query));
static cl::opt<std::string> Request(cl::Positional, cl::sub(Query));
static cl::opt<unsigned> Jobs("jobs", cl::sub(Query), cl::value_desc("N"),
                              cl::init(0),
                              cl::desc("Answer up to N requests at a time "
                                       "(default: one a processor)"));
static cl::opt<uint64_t>
    CacheMb("cache-mb", cl::sub(Query), cl::value_desc("N"), cl::init(256),
            cl::desc("Keep up to N MiB of replayed history (default: 256)"));
static cl::opt<std::string>
    Listen("listen", cl::sub(Query), cl::value_desc("PATH"),
           cl::desc("Serve clients of a Unix socket instead"));
static cl::list<std::string>
    DebugDirectories("debug-directory", cl::sub(Query), cl::value_desc("DIR"),
                     cl::desc("Look for separate debug files in DIR too, "
                              "before /usr/lib/debug; may be repeated"));

static int answerOne(const Trace &T, ThreadPoolInterface &Pool) {
  Session S(T, Pool, [](StringRef Line) {
    outs() << Line;
    outs().flush();
    return true;
  });
  S.request(Request);
  S.finish();
  return S.hadErrors() ? 1 : 0;
}

static int run(ArrayRef<const char *>) {
  if (Path.empty())
    return failUsage(
        Query, "which trace? name the file that 'chronicle record' wrote");
  if (!Listen.empty() && !Request.empty())
    return failUsage(Query, "--listen takes requests from its clients, not "
                            "from the command line");
  if (CacheMb == 0 || CacheMb > 1 << 20)
    return failUsage(Query, "--cache-mb must be from 1 to 1048576");
  TraceOptions Options;
  Options.CacheBytes = CacheMb << 20;
  Options.DebugDirectories.insert(Options.DebugDirectories.begin(),
                                  DebugDirectories.begin(),
                                  DebugDirectories.end());
  Expected<std::unique_ptr<Trace>> T = Trace::open(Path, Options);
  if (!T)
    return fail(Query, 2, T.takeError());
  DefaultThreadPool Pool(hardware_concurrency(Jobs));
  if (!Request.empty())
    return answerOne(**T, Pool);
  if (!Listen.empty()) {
    if (Error E = serveSocket(**T, Pool, Listen))
      return fail(Query, 2, std::move(E));
    return 0;
  }
  return serveDescriptors(**T, Pool, STDIN_FILENO, STDOUT_FILENO) ? 0 : 1;
}

} // namespace chronicle
