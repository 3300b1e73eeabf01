// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// query-latency [--samples N] [--seed N] [--only KIND] trace.db: asks each kind
// of question about random moments and places, and prints how long each answer
// took, in seconds, as JSON:
//
//   {"cold": {"open": {"wall": [..], "processor": [..], "found": [..]},
//             "registers": ..},
//    "session": {..}}
//
// "found" says that an instruction of the program did what was asked for. If
// none did, or if the system filled the place when it was mapped, the answer is
// faster; this is more frequent in a short run.
//
// "cold": the trace is opened for that one question, so nothing is decoded,
// replayed or cached (the file itself is in the page cache, as it is after
// recording). "open" is opening and the first answer together; all others leave
// opening out. "session": one trace object gets all questions, with a cache
// that is too small to help. This is like a new moment in a session that has
// gone on for a while.

#include "query/Trace.h"
#include "query/replay/operations/ValueTypes.h"
#include "trace-format/FileFormat.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <ctime>
#include <random>

using namespace chronicle;
using namespace llvm;

static cl::opt<std::string> Path(cl::Positional, cl::Required,
                                 cl::desc("trace.db"));
static cl::opt<unsigned> Samples("samples", cl::init(100),
                                 cl::desc("questions of each kind"));
static cl::opt<uint64_t> Seed("seed", cl::init(1));
static cl::opt<std::string> Only("only",
                                 cl::desc("one kind, for a profiler to see"));

static ExitOnError Check("query-latency: ");

namespace {

/// Chooses random moments, places and instructions of a run. It has a trace
/// object of its own, so that choosing warms no cache.
class Chooser {
public:
  Chooser() : T(Check(query::Trace::open(Path))), Random(Seed) {
    for (const PageChunkEntry &E : T->reader().pageChunks())
      if (E.Frame < SharedFrames)
        Chunks.push_back(&E);
  }

  Timestamp moment() { return Random() % (T->instructions() + 1); }
  uint32_t threadAt(Timestamp When) { return Check(T->threadAt(When)); }

  /// Eight bytes that the program wrote at some time. A page that is written
  /// all the time has more chunks, so it is chosen more often, as in real
  /// questions.
  uint64_t written() {
    if (Chunks.empty())
      return 0;
    const PageChunkEntry &E = *Chunks[Random() % Chunks.size()];
    for (unsigned Tries = 0; Tries < 4096; ++Tries) {
      const unsigned Granule = Random() % GranulesPerPage;
      if (E.Granules[Granule / 64] >> Granule % 64 & 1)
        return E.Frame * PageSize + Granule * GranuleSize;
    }
    return E.Frame * PageSize;
  }

  /// Half of them are where the program spends its time, half anywhere in the
  /// code that ever ran, most of which ran early or seldom.
  uint64_t instruction() {
    if (Random() % 2) {
      const Timestamp When = moment();
      return Check(T->registers(threadAt(When), When)).rip();
    }
    const uint32_t Count = T->reader().superblockCount();
    for (unsigned Tries = 0; Tries < 4096 && Count; ++Tries)
      if (ArrayRef<uint8_t> D = T->reader().definition(Random() % Count).Bytes;
          !D.empty())
        return operations::loadValue<uint64_t>(D.data());
    return 0;
  }

private:
  std::unique_ptr<query::Trace> T;
  std::mt19937_64 Random;
  std::vector<const PageChunkEntry *> Chunks; ///< of private memory
};

/// A question that was chosen. Only asking it is timed.
struct Question {
  Timestamp When;
  uint32_t Thread;
  uint64_t Address;
};

struct Kind {
  const char *Name;
  Question (*Choose)(Chooser &);
  /// Asks it. Returns whether an instruction was found, if one was asked for.
  bool (*Ask)(const query::Trace &, const Question &);
};

} // namespace

static Question aboutThread(Chooser &C) {
  const Timestamp When = C.moment();
  return {When, C.threadAt(When), 0};
}

static Question aboutPlace(Chooser &C) { return {C.moment(), 0, C.written()}; }

static Question aboutCode(Chooser &C) {
  return {C.moment(), 0, C.instruction()};
}

/// The write nearest to the question's moment, in one direction.
template <bool Backward>
static bool findWrite(const query::Trace &T, const Question &Q) {
  bool Found = false;
  const answers::TimeRange When =
      Backward ? answers::TimeRange{0, Q.When}
               : answers::TimeRange{Q.When, ~Timestamp(0)};
  Check(T.writes({Q.Address, Q.Address + 7}, When, Backward,
                 [&](const answers::Write &W) {
                   Found = W.By == answers::Writer::Instruction;
                   return false;
                 }));
  return Found;
}

static bool findExecution(const query::Trace &T, const Question &Q) {
  bool Found = false;
  Check(T.executions({Q.Address, Q.Address}, {0, Q.When}, /*Thread=*/0,
                     /*Backward=*/true, [&](const answers::Execution &) {
                       Found = true;
                       return false;
                     }));
  return Found;
}

static const Kind Kinds[] = {
    {"registers", aboutThread,
     [](const query::Trace &T, const Question &Q) {
       Check(T.registers(Q.Thread, Q.When));
       return true;
     }},
    {"memory", aboutPlace,
     [](const query::Trace &T, const Question &Q) {
       const uint64_t Page = alignDown(Q.Address, PageSize);
       return !Check(T.memory(Page, PageSize, Q.When)).Mapped.empty();
     }},
    {"last-write", aboutPlace, findWrite<true>},
    {"next-write", aboutPlace, findWrite<false>},
    {"last-execution", aboutCode, findExecution},
    {"call-stack", aboutThread,
     [](const query::Trace &T, const Question &Q) {
       Check(T.callStack(Q.Thread, Q.When));
       return true;
     }},
};

namespace {

/// How long something took, in seconds: by the clock, and of this thread's
/// processor time, which other programs disturb less.
struct Sample {
  double Wall, Processor;
  bool Found;
};

} // namespace

static double processorTime() {
  timespec Now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &Now);
  return Now.tv_sec + Now.tv_nsec * 1e-9;
}

template <typename Work> static Sample time(Work W) {
  const double Processor = processorTime();
  const auto Start = std::chrono::steady_clock::now();
  const bool Found = W();
  const std::chrono::duration<double> Wall =
      std::chrono::steady_clock::now() - Start;
  return {Wall.count(), processorTime() - Processor, Found};
}

static json::Object toJson(ArrayRef<Sample> Samples) {
  json::Array Wall, Processor, Found;
  for (const Sample &S : Samples) {
    Wall.push_back(S.Wall);
    Processor.push_back(S.Processor);
    Found.push_back(S.Found);
  }
  return json::Object{{"wall", std::move(Wall)},
                      {"processor", std::move(Processor)},
                      {"found", std::move(Found)}};
}

static json::Object cold(Chooser &C) {
  json::Object Result;
  std::vector<Sample> Opened;
  for (const Kind &K : Kinds) {
    if (!Only.empty() && Only != K.Name)
      continue;
    std::vector<Sample> Asked;
    for (unsigned N = 0; N < Samples; ++N) {
      const Question Q = K.Choose(C);
      std::unique_ptr<query::Trace> T;
      const Sample Opening = time([&] {
        T = Check(query::Trace::open(Path));
        return true;
      });
      Asked.push_back(time([&] { return K.Ask(*T, Q); }));
      Opened.push_back({Opening.Wall + Asked.back().Wall,
                        Opening.Processor + Asked.back().Processor, true});
    }
    Result[K.Name] = toJson(Asked);
  }
  Result["open"] = toJson(Opened);
  return Result;
}

static json::Object session(Chooser &C) {
  query::TraceOptions Options;
  Options.CacheBytes = 1 << 20;
  std::unique_ptr<query::Trace> T = Check(query::Trace::open(Path, Options));
  json::Object Result;
  for (const Kind &K : Kinds) {
    if (!Only.empty() && Only != K.Name)
      continue;
    std::vector<Sample> Asked;
    for (unsigned N = 0; N < Samples; ++N) {
      const Question Q = K.Choose(C);
      Asked.push_back(time([&] { return K.Ask(*T, Q); }));
    }
    Result[K.Name] = toJson(Asked);
  }
  return Result;
}

int main(int Argc, char **Argv) {
  cl::ParseCommandLineOptions(Argc, Argv,
                              "how long answers about random moments take\n");
  Chooser C;
  json::Object Result;
  Result["cold"] = cold(C);
  Result["session"] = session(C);
  outs() << json::Value(std::move(Result)) << '\n';
  return 0;
}
