// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// `chronicle cache`: shows or empties the translation cache.

#include "recorder/cache/CacheDirectory.h"
#include "recorder/cache/TranslationFile.h"
#include "trace-format/Text.h"
#include "utils/chronicle/Subcommand.h"
#include "utils/chronicle/Terminal.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace chronicle::cli {

static int run(ArrayRef<const char *>);
static Command Cache(
    {.Name = "cache",
     .Summary = "show or empty the cache of translated code",
     .Arguments = "[options] [clear]",
     .Details =
         "'chronicle record' keeps the machine code that it makes of "
         "programs, so that later recordings of the same code start faster. "
         "'chronicle record --cache off' does without, and "
         "CHRONICLE_CACHE=off in the environment does so for every recording. "
         "This command shows how large the cache is and how much of it was of "
         "use. 'clear' removes it. That does not disturb recordings under "
         "way.",
     .Examples = "  chronicle cache\n"
                 "  chronicle cache --json\n"
                 "  chronicle cache clear\n",
     .Statuses = {{"0", "The cache was shown or removed."},
                  {"2",
                   "The directory is not usable, or an argument is wrong."}},
     .Run = run,
     .Words = {"clear"}});
static cl::opt<std::string> Action(cl::Positional, cl::sub(Cache));
static cl::opt<std::string>
    Directory("cache", cl::sub(Cache), cl::value_desc("DIR"),
              cl::desc("The directory of the cache (default: "
                       "$CHRONICLE_CACHE, if it is a directory, or "
                       "~/.cache/chronicle/translations)"));
static cl::opt<bool> Json("json", cl::sub(Cache),
                          cl::desc("Print one JSON object"));

namespace {
struct Contents {
  uint64_t Files = 0, Bytes = 0, Translations = 0;
  cache::CacheStatistics Uses;
};
} // namespace

static Contents contentsOf(const cache::CacheDirectory &D) {
  Contents C;
  C.Uses = D.statistics();
  for (const cache::CacheDirectory::File &F : D.files()) {
    ++C.Files;
    C.Bytes += F.Bytes;
    Expected<cache::TranslationFile> File =
        cache::TranslationFile::open(D.descriptor(), F.Name);
    if (File)
      C.Translations += File->header().translations;
    else
      consumeError(File.takeError()); // the next recording removes it
  }
  return C;
}

static void print(StringRef Path, const Contents &C) {
  if (Json) {
    outs() << json::Value(
                  json::Object{{"directory", shownText(Path)},
                               {"files", C.Files},
                               {"bytes", C.Bytes},
                               {"translations", C.Translations},
                               {"recordings", C.Uses.Recordings},
                               {"needed-translations", C.Uses.Translations},
                               {"stored-translations", C.Uses.Stored}})
           << '\n';
    return;
  }
  outs() << Path << '\n'
         << "  " << humanBytes(C.Bytes) << " in " << groupedDigits(C.Files)
         << (C.Files == 1 ? " file, " : " files, ")
         << groupedDigits(C.Translations) << " translations\n";
  outs() << "  " << groupedDigits(C.Uses.Recordings)
         << (C.Uses.Recordings == 1 ? " recording" : " recordings")
         << " needed " << groupedDigits(C.Uses.Translations)
         << " translations and found " << groupedDigits(C.Uses.Stored)
         << " of them here";
  if (C.Uses.Translations)
    outs() << formatv(" ({0:f1} %)", 100.0 * double(C.Uses.Stored) /
                                         double(C.Uses.Translations));
  outs() << '\n';
}

static int run(ArrayRef<const char *>) {
  if (!Action.empty() && Action != "clear")
    return failUsage(Cache, "unexpected argument '" + Action + "'");
  std::string Path = cache::cacheSetting(Directory);
  if (Path == "on" || Path == "off")
    Path = cache::defaultCacheDirectory();
  if (Path.empty())
    return fail(Cache, 2, "no home directory: set HOME, or use --cache");
  Expected<cache::CacheDirectory> D = cache::CacheDirectory::open(Path, false);
  if (!D) {
    // Nothing was ever kept there.
    if (errorToErrorCode(D.takeError()) ==
        std::errc::no_such_file_or_directory) {
      print(Path, Contents());
      return 0;
    }
    D = cache::CacheDirectory::open(Path, false);
    return fail(Cache, 2, D.takeError());
  }
  if (Action.empty()) {
    print(Path, contentsOf(*D));
    return 0;
  }
  const uint64_t Removed = D->clear();
  if (Json)
    outs() << json::Value(json::Object{{"removed-bytes", Removed}}) << '\n';
  else
    outs() << "removed " << humanBytes(Removed) << " from " << Path << '\n';
  return 0;
}

} // namespace chronicle::cli
