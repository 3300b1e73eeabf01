// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Writes to a client that may be slow.

#ifndef CHRONICLE_QUERY_BASE_QUEUEDWRITER_H
#define CHRONICLE_QUERY_BASE_QUEUEDWRITER_H

#include "llvm/ADT/StringRef.h"
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace chronicle::base {

/// Writes on a thread of its own, so that nobody else waits for the reader. A
/// reader that falls too far behind is given up.
class QueuedWriter {
public:
  /// At most \p MostBytes wait for the reader. The descriptor is a socket, and
  /// stays open.
  QueuedWriter(int Descriptor, size_t MostBytes);
  QueuedWriter(const QueuedWriter &) = delete;
  QueuedWriter &operator=(const QueuedWriter &) = delete;
  /// Waits until everything is written or the reader has gone.
  ~QueuedWriter();

  /// \return false if the reader has gone or was given up; then nothing more is
  /// written, and reads from the socket end.
  bool write(llvm::StringRef Bytes);

private:
  void run();

  int Descriptor;
  size_t MostBytes;
  std::mutex Lock;
  std::condition_variable Changed;
  std::string Waiting;
  bool Gone = false, Ending = false;
  std::thread Thread;
};

} // namespace chronicle::base

#endif
