// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Keeps copies of the programs and libraries of a run while it goes on.

#ifndef CHRONICLE_QUERY_FILES_FILEKEEPER_H
#define CHRONICLE_QUERY_FILES_FILEKEEPER_H

#include "trace-format/Thread.h"
#include "llvm/ADT/StringRef.h"
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace chronicle::files {

/// Opens a file at once, so that a rename over it does no harm, and copies it
/// on a thread of its own, so that neither program nor indexer waits.
class FileKeeper {
public:
  FileKeeper();
  ~FileKeeper();

  /// Keeps the file. One that was asked for before is not kept again.
  void keep(llvm::StringRef Path);
  /// Waits for the copies.
  /// \return sentences about those that could not be made.
  std::vector<std::string> finish();

private:
  void work();

  struct OpenFile {
    std::string Path;
    int Descriptor;
  };
  std::mutex Lock;
  std::condition_variable Changed;
  std::deque<OpenFile> Queue;
  std::vector<std::string> Asked, Problems;
  bool Ending = false;
  Thread Worker;
};

} // namespace chronicle::files

#endif
