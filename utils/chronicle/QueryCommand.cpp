// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// `chronicle query`: answers questions about a trace, as lines of JSON.

#include "query/Trace.h"
#include "query/server/QueryServer.h"
#include "utils/chronicle/FileFlags.h"
#include "utils/chronicle/Subcommand.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

using namespace llvm;

namespace chronicle::cli {

static int run(ArrayRef<const char *>);
static Command Query(
    {.Name = "query",
     .Summary = "answer questions about a trace, in JSON",
     .Arguments = "[options] trace.db [request]",
     .Details =
         "Reads requests from standard input, one JSON object per line, and "
         "writes the answers to standard\noutput, one per line, each with the "
         "request's \"id\". If a request is given as an argument, answers\n"
         "only that one. docs/query.md describes the requests.",
     .Examples = "  chronicle query trace.db "
                 "'{\"cmd\":\"call-stack\",\"at\":\"end\"}'\n"
                 "  chronicle query trace.db < requests > answers\n"
                 "  chronicle query --listen /tmp/chronicle.socket trace.db\n",
     .Statuses = {{"0", "The requests were answered."},
                  {"1", "The request in the argument failed, or the reader of "
                        "the answers is gone."},
                  {"2",
                   "The file cannot be read, the socket cannot be created, "
                   "or an option is wrong."}},
     .Run = run});
static cl::opt<std::string> Path(cl::Positional, cl::sub(Query));
static ProcessFlag Process(Query);
static cl::opt<std::string> Request(cl::Positional, cl::sub(Query));
static NumberOption<unsigned> Jobs("jobs", cl::sub(Query), cl::value_desc("N"),
                                   cl::init(0),
                                   cl::desc("Answer up to N requests at a time "
                                            "(default one per processor)"));
static ShortName JobsLetter("j", Jobs);
static NumberOption<unsigned long long>
    CacheMb("cache-mb", cl::sub(Query), cl::value_desc("N"), cl::init(256),
            cl::desc("Keep up to N MiB of replayed history (default 256)"));
static cl::opt<std::string>
    Listen("listen", cl::sub(Query), cl::value_desc("PATH"),
           cl::desc("Serve clients of the Unix socket PATH"));
static FileFlags Files(Query);

static int answerOne(const query::Trace &T, ThreadPoolInterface &Pool) {
  server::Session S(T, Pool, [](StringRef Line) {
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
    return failNoTrace(Query);
  if (!Listen.empty() && !Request.empty())
    return failUsage(Query, "--listen takes requests from clients: remove the "
                            "request from the command line");
  if (CacheMb == 0 || CacheMb > 1 << 20)
    return failUsage(Query, "invalid --cache-mb " + Twine(CacheMb) +
                                ": expected a number from 1 to 1048576");
  if (std::string Wrong = Files.wrong(); !Wrong.empty())
    return failUsage(Query, Wrong);
  if (Error E = Process.choose(Path))
    return fail(Query, 2, std::move(E));
  query::TraceOptions Options;
  Options.CacheBytes = CacheMb << 20;
  Options.Files = Files.options();
  Expected<std::unique_ptr<query::Trace>> T = query::Trace::open(Path, Options);
  if (!T)
    return fail(Query, 2, T.takeError());
  DefaultThreadPool Pool(hardware_concurrency(Jobs));
  if (!Request.empty())
    return answerOne(**T, Pool);
  if (!Listen.empty()) {
    if (Error E = server::serveSocket(**T, Pool, Listen))
      return fail(Query, 2, std::move(E));
    return 0;
  }
  return server::serveDescriptors(**T, Pool, STDIN_FILENO, STDOUT_FILENO) ? 0
                                                                          : 1;
}

} // namespace chronicle::cli
