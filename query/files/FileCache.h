// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The directory of files that belong to traces but are not where they were.

#ifndef CHRONICLE_QUERY_FILES_FILECACHE_H
#define CHRONICLE_QUERY_FILES_FILECACHE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace chronicle::files {

/// $XDG_CACHE_HOME/chronicle/files, or ~/.cache/chronicle/files. Everything in
/// it is private to the user (0700 and 0600). It has entries, which are
/// directories that appear whole, by a rename, and go whole:
///
///   kept/<build id>/<name>          copies that the recorder made
///   kept/head-<hash>.<hash>/<name>  the same of files without a build id
///   packed/<hash>/<path>            files from traces, as they are needed
///
/// Several processes may use it at once.
class FileCache {
public:
  /// More than this is not kept: least recently used entries go first, but none
  /// that was used within the last hour.
  static constexpr uint64_t MaxBytes = uint64_t(4) << 30;

  /// Makes the directory if it is not there. Fails if there is no place for it.
  static llvm::Expected<FileCache> open();

  std::string kept() const { return Root + "/kept"; }
  std::string packed() const { return Root + "/packed"; }

  /// Drops entries until the rest fits into Most bytes.
  void prune(uint64_t Most = MaxBytes) const;

private:
  explicit FileCache(std::string Root) : Root(std::move(Root)) {}
  std::string Root;
};

/// Notes that an entry is in use.
void touch(llvm::StringRef Entry);
/// Makes a directory for the user alone, and those above it.
llvm::Error makePrivateDirectory(llvm::StringRef Path);
/// Removes an entry, or what is left of one.
void removeTree(llvm::StringRef Path);

} // namespace chronicle::files

#endif
