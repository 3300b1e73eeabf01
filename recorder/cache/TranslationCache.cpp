// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "recorder/cache/TranslationCache.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>
#include <sys/resource.h>
#include <unordered_set>

using namespace llvm;

namespace chronicle::cache {

namespace {
/// If a tool has more files than this, the smallest are merged until it has
/// about half as many. Each file is one more place to look for a translation.
constexpr size_t ManyFiles = 8, FewFiles = 4;
/// Merging makes no larger files, so that it never takes longer than a second.
constexpr uint64_t MergedBytes = 256 << 20;
} // namespace

TranslationCache::TranslationCache(CacheDirectory D, const ToolId &Tool,
                                   uint64_t LimitBytes)
    : Directory(std::move(D)), Tool(Tool), LimitBytes(LimitBytes),
      Writer(Directory.descriptor(), Tool, LimitBytes / 2) {}

Expected<std::unique_ptr<TranslationCache>>
TranslationCache::open(StringRef Path, StringRef Tool, uint64_t LimitBytes) {
  Expected<ToolId> Id = toolId(Tool);
  if (!Id)
    return Id.takeError();
  Expected<CacheDirectory> Directory = CacheDirectory::open(Path, true);
  if (!Directory)
    return Directory.takeError();
  std::unique_ptr<TranslationCache> Cache(
      new TranslationCache(std::move(*Directory), *Id, LimitBytes));
  Cache->openFiles();
  return Cache;
}

std::unique_ptr<TranslationCache>
TranslationCache::openIfUsable(const std::string &Where, StringRef Tool,
                               uint64_t LimitBytes, std::string &Note) {
  if (Where == "off")
    return nullptr;
  const std::string Path = Where == "on" ? defaultCacheDirectory() : Where;
  if (Path.empty()) {
    Note = "no translation cache: there is no home directory";
    return nullptr;
  }
  Expected<std::unique_ptr<TranslationCache>> Cache =
      open(Path, Tool, LimitBytes);
  if (Cache)
    return std::move(*Cache);
  Note = "no translation cache: " + toString(Cache.takeError());
  return nullptr;
}

/// Whether there are descriptors to spare. The program must not miss them.
static bool mayStayOpen(int Descriptor) {
  struct rlimit Limit;
  return getrlimit(RLIMIT_NOFILE, &Limit) == 0 &&
         rlim_t(Descriptor) < Limit.rlim_cur / 2;
}

void TranslationCache::openFiles() {
  const std::string Prefix = filePrefix(Tool);
  for (const CacheDirectory::File &F : Directory.files()) {
    if (!StringRef(F.Name).starts_with(Prefix))
      continue;
    if (Files.size() == CH_MOST_TRANSLATION_FILES)
      break;
    Expected<TranslationFile> File =
        TranslationFile::open(Directory.descriptor(), F.Name);
    if (!File) {
      // Another process may just have removed it.
      handleAllErrors(
          File.takeError(), [](const ECError &) {},
          [&](const ErrorInfoBase &) {
            ++Damaged;
            Directory.remove(F.Name);
          });
      continue;
    }
    if (!mayStayOpen(File->descriptor()))
      break;
    if (File->tool() == Tool)
      Files.push_back(std::move(*File));
  }
}

std::vector<int> TranslationCache::descriptors() const {
  std::vector<int> Result;
  Result.reserve(Files.size());
  for (const TranslationFile &F : Files)
    Result.push_back(F.descriptor());
  return Result;
}

void TranslationCache::closeFiles() {
  for (TranslationFile &F : Files)
    F.close();
}

void TranslationCache::add(ArrayRef<uint8_t> Translation) {
  ch_translation T;
  if (Translation.size() < sizeof(T))
    return;
  std::memcpy(&T, Translation.data(), sizeof(T));
  if (T.size == Translation.size())
    Writer.add(T.key, Translation);
}

/// Copies the smallest files into one. A translation that several recordings
/// made at once is copied once.
void TranslationCache::mergeSmallFiles() {
  std::vector<CacheDirectory::File> Ours = Directory.files();
  erase_if(Ours, [&](const CacheDirectory::File &F) {
    return !StringRef(F.Name).starts_with(filePrefix(Tool));
  });
  if (Ours.size() <= ManyFiles)
    return;
  llvm::sort(Ours,
             [](const auto &A, const auto &B) { return A.Bytes < B.Bytes; });
  TranslationWriter Merged(Directory.descriptor(), Tool, LimitBytes / 2);
  std::unordered_set<uint64_t> Copied;
  std::vector<std::string> Sources;
  uint64_t Sum = 0;
  for (const CacheDirectory::File &F : ArrayRef(Ours).drop_back(FewFiles - 1)) {
    Sum += F.Bytes;
    if (Sum > MergedBytes)
      break;
    Expected<TranslationFile> File =
        TranslationFile::open(Directory.descriptor(), F.Name);
    if (!File) {
      // openFiles() decides what to do with it.
      consumeError(File.takeError());
      continue;
    }
    Sources.push_back(F.Name);
    // What comes before the damage is good.
    consumeError(
        File->forEach([&](const ch_translation &T, ArrayRef<uint8_t> Bytes) {
          if (Copied.insert(T.checksum).second)
            Merged.add(T.key, Bytes);
          return true;
        }));
  }
  if (Sources.size() < 2 || Merged.finish().empty())
    return;
  for (const std::string &Name : Sources)
    Directory.remove(Name);
}

std::string TranslationCache::finish(const ch_translation_report &Report) {
  for (auto [I, F] : enumerate(Files)) {
    if (Report.damaged_files >> I & 1) {
      ++Damaged;
      Directory.remove(F.name());
    } else if (Report.used_files >> I & 1) {
      Directory.touch(F.name());
    }
  }
  Writer.finish();
  Directory.count({1, Report.needed, Report.stored});
  if (std::unique_ptr<CacheLock> Lock = Directory.tryLock()) {
    Directory.removeLeftovers();
    mergeSmallFiles();
    Directory.evict(LimitBytes);
  }
  if (!Writer.problem().empty())
    return "the new translations were not kept: " + Writer.problem();
  return Damaged
             ? formatv("removed {0} damaged file{1} of the translation cache",
                       Damaged, Damaged == 1 ? "" : "s")
                   .str()
             : "";
}

} // namespace chronicle::cache
