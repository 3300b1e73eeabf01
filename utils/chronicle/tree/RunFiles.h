// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The files that the traces of a run are written to (docs/format.md, "A run of
/// several processes").

#ifndef CHRONICLE_UTILS_CHRONICLE_TREE_RUNFILES_H
#define CHRONICLE_UTILS_CHRONICLE_TREE_RUNFILES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <mutex>
#include <string>

namespace chronicle::tree {

/// A run of one process is a file. When the second process comes, the file is
/// moved into a directory that takes its name. Any thread may call.
class RunFiles {
public:
  /// Path is the file of the first process, whose program is given; it exists
  /// when add() is called.
  RunFiles(std::string Path, llvm::StringRef Program);

  /// The file for another process. It does not exist yet.
  llvm::Expected<std::string> add(uint32_t Number, llvm::StringRef Program);

  /// What names the run: a file, or a directory.
  const std::string &path() const { return Path; }
  /// Where the trace of the first process is now.
  std::string first() const;
  bool isDirectory() const;

  /// Removes all traces of the run.
  llvm::Error remove();

private:
  llvm::Error makeDirectory();

  mutable std::mutex Mutex;
  const std::string Path;
  const std::string FirstName; ///< the first trace's name in the directory
  bool Directory = false;
};

/// Removes a trace that could not be completed if nothing of it can be read:
/// such a file only looks like a trace. Why is the failure.
/// \return the failure, which says what is left.
llvm::Error withoutTrace(llvm::StringRef Path, llvm::Error Why);

} // namespace chronicle::tree

#endif
