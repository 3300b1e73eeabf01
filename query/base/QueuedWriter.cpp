// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/base/QueuedWriter.h"
#include "query/base/WriteAll.h"
#include <sys/socket.h>

using namespace llvm;

namespace chronicle::base {

QueuedWriter::QueuedWriter(int Descriptor, size_t MostBytes)
    : Descriptor(Descriptor), MostBytes(MostBytes), Thread([this] { run(); }) {}

QueuedWriter::~QueuedWriter() {
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Ending = true;
    Changed.notify_one();
  }
  Thread.join();
}

bool QueuedWriter::write(StringRef Bytes) {
  std::lock_guard<std::mutex> Guard(Lock);
  if (!Gone && Waiting.size() + Bytes.size() > MostBytes) {
    Gone = true;
    // Ends a write under way, and the reading of requests.
    ::shutdown(Descriptor, SHUT_RDWR);
  }
  if (Gone)
    return false;
  Waiting += Bytes;
  Changed.notify_one();
  return true;
}

void QueuedWriter::run() {
  std::unique_lock<std::mutex> Guard(Lock);
  while (true) {
    Changed.wait(Guard, [&] { return Gone || Ending || !Waiting.empty(); });
    if (Gone || Waiting.empty())
      return;
    const std::string Now = std::exchange(Waiting, {});
    Guard.unlock();
    const bool Written = writeAll(Descriptor, Now);
    Guard.lock();
    Gone |= !Written;
  }
}

} // namespace chronicle::base
