// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/files/FileCache.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <vector>

using namespace llvm;

namespace chronicle::files {

Error makePrivateDirectory(StringRef Path) {
  if (std::error_code Code = sys::fs::create_directories(
          Path, /*IgnoreExisting=*/true, sys::fs::perms::owner_all))
    return createStringError(Code, "cannot make the directory '" + Path +
                                       "': " + Code.message());
  return Error::success();
}

void removeTree(StringRef Path) {
  // What cannot be removed is tried again when the cache is next too large.
  (void)sys::fs::remove_directories(Path, /*IgnoreErrors=*/true);
}

void touch(StringRef Entry) {
  // Only a hint for prune().
  (void)!::utimensat(AT_FDCWD, Entry.str().c_str(), nullptr, 0);
}

Expected<FileCache> FileCache::open() {
  SmallString<256> Root;
  // As the specification of XDG says, a relative path does not count.
  const char *Cache = std::getenv("XDG_CACHE_HOME");
  if (Cache && sys::path::is_absolute(Cache))
    Root = Cache;
  else if (sys::path::home_directory(Root))
    sys::path::append(Root, ".cache");
  else
    return createStringError("there is no home directory");
  sys::path::append(Root, "chronicle", "files");
  FileCache Result(Root.str().str());
  for (const std::string &Each : {Result.kept(), Result.packed()})
    if (Error E = makePrivateDirectory(Each))
      return E;
  return Result;
}

namespace {
struct Entry {
  std::string Path;
  sys::TimePoint<> Used;
  uint64_t Bytes = 0;
};
} // namespace

static uint64_t bytesBelow(StringRef Directory) {
  uint64_t Sum = 0;
  std::error_code Code;
  for (sys::fs::recursive_directory_iterator
           I(Directory, Code, /*follow_symlinks=*/false),
       E;
       I != E && !Code; I.increment(Code)) {
    struct stat Status;
    if (!::lstat(I->path().c_str(), &Status) && S_ISREG(Status.st_mode))
      Sum += uint64_t(Status.st_size);
  }
  return Sum;
}

void FileCache::prune(uint64_t Most) const {
  std::vector<Entry> Entries;
  uint64_t Sum = 0;
  for (const std::string &Directory : {kept(), packed()}) {
    std::error_code Code;
    for (sys::fs::directory_iterator I(Directory, Code), E; I != E && !Code;
         I.increment(Code)) {
      sys::fs::file_status Status;
      if (sys::fs::status(I->path(), Status, /*follow=*/false))
        continue;
      Entries.push_back(
          {I->path(), Status.getLastModificationTime(), bytesBelow(I->path())});
      Sum += Entries.back().Bytes;
    }
  }
  sort(Entries, [](const Entry &A, const Entry &B) { return A.Used < B.Used; });
  const sys::TimePoint<> Recent =
      std::chrono::time_point_cast<sys::TimePoint<>::duration>(
          std::chrono::system_clock::now()) -
      std::chrono::hours(1);
  for (const Entry &Each : Entries) {
    if (Sum <= Most || Each.Used > Recent)
      return;
    removeTree(Each.Path);
    Sum -= Each.Bytes;
  }
}

} // namespace chronicle::files
