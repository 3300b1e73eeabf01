// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/reads/IndexHome.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace llvm;

namespace chronicle::reads {

/// ~/.cache/chronicle/indexes, or empty if there is no home directory.
static std::string cacheDirectory() {
  SmallString<128> Path;
  if (!sys::path::cache_directory(Path))
    return "";
  sys::path::append(Path, "chronicle", "indexes");
  return std::string(Path);
}

std::vector<std::string> indexPlaces(StringRef TracePath, StringRef Suffix,
                                     uint64_t Identity) {
  std::vector<std::string> Places;
  if (!TracePath.empty())
    Places.push_back((TracePath + "." + Suffix).str());
  if (std::string Cache = cacheDirectory(); !Cache.empty())
    Places.push_back(formatv("{0}/{1:x-16}.{2}", Cache, Identity, Suffix));
  return Places;
}

static Error failed(StringRef Path, int Number) {
  return createStringError(Path + ": " + sys::StrError(Number));
}

Expected<std::unique_ptr<IndexHome>>
IndexHome::open(StringRef Path, StringRef Magic,
                const answers::Cancellation *Cancel) {
  StringRef Directory = sys::path::parent_path(Path);
  if (Directory == cacheDirectory())
    if (std::error_code Failed = sys::fs::create_directories(
            Directory, /*IgnoreExisting=*/true, sys::fs::owner_all))
      return createStringError(Failed, Directory);
  const int Descriptor = ::open(
      Path.str().c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (Descriptor < 0)
    return failed(Path, errno);
  std::unique_ptr<IndexHome> Home(new IndexHome(Path.str(), Descriptor));
  while (::flock(Descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK)
      return failed(Path, errno);
    if (Cancel && Cancel->Cancelled)
      return nullptr;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  SmallString<16> Start;
  Start.resize(Magic.size());
  const ssize_t Read = ::pread(Descriptor, Start.data(), Start.size(), 0);
  if (Read < 0)
    return failed(Path, errno);
  if (Read > 0 && !Magic.starts_with(StringRef(Start).take_front(Read)))
    return createStringError(Path + ": the file is something else");
  return Home;
}

IndexHome::~IndexHome() { ::close(Descriptor); }

Error IndexHome::cut(uint64_t To) {
  if (::ftruncate(Descriptor, off_t(To)) != 0)
    return failed(Path, errno);
  Size = To;
  return Error::success();
}

Error IndexHome::append(ArrayRef<uint8_t> Bytes) {
  while (!Bytes.empty()) {
    const ssize_t Written =
        ::pwrite(Descriptor, Bytes.data(), Bytes.size(), off_t(Size));
    if (Written < 0 && errno == EINTR)
      continue;
    if (Written < 0)
      return failed(Path, errno);
    Size += size_t(Written);
    Bytes = Bytes.drop_front(size_t(Written));
  }
  return Error::success();
}

} // namespace chronicle::reads
