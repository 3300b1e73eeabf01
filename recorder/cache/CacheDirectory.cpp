// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "recorder/cache/CacheDirectory.h"
#include "recorder/cache/TranslationWriter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>
#include <utility>

using namespace llvm;

namespace chronicle::cache {

namespace {
constexpr const char StatisticsName[] = "statistics";
constexpr const char LockName[] = "lock";
constexpr int PrivateFile = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
/// How often to try to lock the statistics, one millisecond apart.
constexpr unsigned Attempts = 20;
} // namespace

std::string defaultCacheDirectory() {
  SmallString<128> Path;
  const char *Cache = getenv("XDG_CACHE_HOME");
  // The specification says that a relative path is to be ignored.
  if (Cache && sys::path::is_absolute(Cache))
    Path = Cache;
  else if (const char *Home = getenv("HOME"); Home && *Home)
    sys::path::append(Path, Home, ".cache");
  else
    return "";
  sys::path::append(Path, "chronicle", "translations");
  return std::string(Path);
}

std::string cacheSetting(StringRef Asked) {
  if (!Asked.empty())
    return Asked.str();
  const char *Always = getenv("CHRONICLE_CACHE");
  return Always && *Always ? Always : "on";
}

static Error errnoError(const Twine &What) {
  return createStringError(std::error_code(errno, std::generic_category()),
                           What);
}

Expected<CacheDirectory> CacheDirectory::open(StringRef Path, bool Create) {
  if (Create)
    if (std::error_code E = sys::fs::create_directories(
            Path, /*IgnoreExisting=*/true, sys::fs::owner_all))
      return createStringError(E,
                               "cannot create '" + Path + "': " + E.message());
  CacheDirectory D;
  D.Descriptor = ::open(Path.str().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat Status;
  if (D.Descriptor < 0 || fstat(D.Descriptor, &Status) != 0)
    return errnoError("cannot open '" + Path +
                      "': " + std::generic_category().message(errno));
  if (Status.st_uid != geteuid())
    return createStringError("'" + Path + "' belongs to another user");
  if (Status.st_mode & 077)
    return createStringError("other users have access to '" + Path +
                             "'; 'chmod 700' makes it usable");
  return D;
}

CacheDirectory::CacheDirectory(CacheDirectory &&Other)
    : Descriptor(std::exchange(Other.Descriptor, -1)) {}

CacheDirectory::~CacheDirectory() {
  if (Descriptor >= 0)
    close(Descriptor);
}

std::vector<std::string> CacheDirectory::names() const {
  std::vector<std::string> Names;
  // A descriptor of its own, because reading moves it.
  int Copy = openat(Descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *Stream = Copy < 0 ? nullptr : fdopendir(Copy);
  if (!Stream) {
    if (Copy >= 0)
      close(Copy);
    return Names;
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread has the stream.
  while (const dirent *Entry = readdir(Stream))
    Names.emplace_back(Entry->d_name);
  closedir(Stream);
  return Names;
}

std::vector<CacheDirectory::File> CacheDirectory::files() const {
  std::vector<File> Files;
  for (std::string &Name : names()) {
    struct stat Status;
    if (StringRef(Name).ends_with(FileSuffix) &&
        fstatat(Descriptor, Name.c_str(), &Status, AT_SYMLINK_NOFOLLOW) == 0)
      Files.push_back(
          {std::move(Name), uint64_t(Status.st_size), Status.st_mtim});
  }
  llvm::sort(Files, [](const File &A, const File &B) {
    return std::tie(B.Used.tv_sec, B.Used.tv_nsec, A.Name) <
           std::tie(A.Used.tv_sec, A.Used.tv_nsec, B.Name);
  });
  return Files;
}

void CacheDirectory::remove(StringRef Name) const {
  unlinkat(Descriptor, Name.str().c_str(), 0);
}

void CacheDirectory::touch(StringRef Name) const {
  utimensat(Descriptor, Name.str().c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

void CacheDirectory::removeLeftovers() const {
  for (const std::string &Name : names()) {
    if (!StringRef(Name).ends_with(TemporarySuffix))
      continue;
    int File = openat(Descriptor, Name.c_str(),
                      O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (File < 0)
      continue;
    // Its writer holds the lock.
    if (flock(File, LOCK_EX | LOCK_NB) == 0)
      remove(Name);
    close(File);
  }
}

void CacheDirectory::evict(uint64_t MostBytes) const {
  uint64_t Sum = 0;
  for (const File &F : files()) {
    Sum += F.Bytes;
    if (Sum > MostBytes)
      remove(F.Name);
  }
}

uint64_t CacheDirectory::clear() const {
  uint64_t Sum = 0;
  for (const File &F : files()) {
    Sum += F.Bytes;
    remove(F.Name);
  }
  removeLeftovers();
  remove(StatisticsName);
  return Sum;
}

CacheLock::~CacheLock() { close(Descriptor); }

std::unique_ptr<CacheLock> CacheDirectory::tryLock() const {
  int File = openat(Descriptor, LockName, PrivateFile, S_IRUSR | S_IWUSR);
  if (File < 0)
    return nullptr;
  if (flock(File, LOCK_EX | LOCK_NB) != 0) {
    close(File);
    return nullptr;
  }
  return std::make_unique<CacheLock>(File);
}

CacheStatistics CacheDirectory::statistics() const {
  CacheStatistics S;
  int File =
      openat(Descriptor, StatisticsName, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (File < 0)
    return S;
  if (pread(File, &S, sizeof(S), 0) != ssize_t(sizeof(S)))
    S = {};
  close(File);
  return S;
}

void CacheDirectory::count(const CacheStatistics &More) const {
  int File = openat(Descriptor, StatisticsName, PrivateFile, S_IRUSR | S_IWUSR);
  if (File < 0)
    return;
  bool Locked = false;
  for (unsigned I = 0; I < Attempts && !Locked; ++I) {
    Locked = flock(File, LOCK_EX | LOCK_NB) == 0;
    if (!Locked)
      usleep(1000);
  }
  CacheStatistics S;
  if (Locked && pread(File, &S, sizeof(S), 0) != ssize_t(sizeof(S)))
    S = {};
  S.Recordings += More.Recordings;
  S.Translations += More.Translations;
  S.Stored += More.Stored;
  if (Locked && pwrite(File, &S, sizeof(S), 0) != ssize_t(sizeof(S)))
    remove(StatisticsName);
  close(File);
}

} // namespace chronicle::cache
