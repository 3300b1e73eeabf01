// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/files/FileKeeper.h"
#include "query/files/KeptFiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle::files {

FileKeeper::FileKeeper() {
  if (Error E = Thread::start([this] { work(); }).moveInto(Worker))
    Problems.push_back("no copies of programs were kept: " +
                       toString(std::move(E)));
}

FileKeeper::~FileKeeper() { finish(); }

void FileKeeper::keep(StringRef Path) {
  // Mappings name the file itself, not a link to it.
  SmallString<256> Real;
  if (!sys::fs::real_path(Path, Real))
    Path = Real;
  std::lock_guard<std::mutex> Guard(Lock);
  if (!Worker.joinable() || is_contained(Asked, Path))
    return;
  Asked.push_back(Path.str());
  // A file that is gone already, or is no file ("[vdso]"), cannot be kept, and
  // the trace says so when it is opened.
  int Descriptor = ::open(Asked.back().c_str(), O_RDONLY | O_CLOEXEC);
  if (Descriptor < 0)
    return;
  Queue.push_back({Asked.back(), Descriptor});
  Changed.notify_one();
}

std::vector<std::string> FileKeeper::finish() {
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Ending = true;
    Changed.notify_one();
  }
  if (Worker.joinable())
    Worker.join();
  return std::move(Problems);
}

void FileKeeper::work() {
  std::unique_lock<std::mutex> Guard(Lock);
  while (true) {
    Changed.wait(Guard, [this] { return Ending || !Queue.empty(); });
    if (Queue.empty())
      return;
    OpenFile File = std::move(Queue.front());
    Queue.pop_front();
    Guard.unlock();
    Expected<FileCache> Cache = FileCache::open();
    Error E = Cache ? KeptFiles(*Cache).keep(File.Descriptor, File.Path)
                    : Cache.takeError();
    ::close(File.Descriptor);
    Guard.lock();
    if (E)
      Problems.push_back("no copy of " + File.Path +
                         " was kept: " + toString(std::move(E)));
  }
}

} // namespace chronicle::files
