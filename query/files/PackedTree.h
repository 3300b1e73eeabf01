// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The files that a trace carries, as a tree of directories on disk.

#ifndef CHRONICLE_QUERY_FILES_PACKEDTREE_H
#define CHRONICLE_QUERY_FILES_PACKEDTREE_H

#include "trace-format/file/TraceReader.h"
#include <mutex>
#include <optional>

namespace chronicle::files {

/// Debuggers need files, so that a packed file is put into the cache when it is
/// first asked for. The tree has each file where it was below the root of the
/// file system, so that it works as a sysroot; debug files are where a debug
/// directory has them. May be used from several threads, and from several
/// processes at once.
class PackedTree {
public:
  explicit PackedTree(const file::TraceReader &Reader);

  /// Why the packed files cannot be used; empty if they can, or if there are
  /// none.
  llvm::StringRef problem() const { return Problem; }
  llvm::ArrayRef<pieces::PackedFile> files() const { return Files; }
  bool has(pieces::PackedKind Kind) const;
  /// The first one that fits, or null. An empty path or build id fits all.
  const pieces::PackedFile *find(pieces::PackedKind Kind, llvm::StringRef Path,
                                 llvm::StringRef BuildId) const;

  /// Where the tree begins. Its directory exists only after extract().
  llvm::Expected<std::string> root() const;
  /// The path of the file in the tree; puts it there first if it is not there.
  llvm::Expected<std::string> extract(const pieces::PackedFile &File) const;
  /// All files of the kind.
  llvm::Error extractAll(pieces::PackedKind Kind) const;

  /// Writes the file to Root and its path, which must not exist. Checks its
  /// digest.
  llvm::Error extractTo(llvm::StringRef Root,
                        const pieces::PackedFile &File) const;

private:
  const file::TraceReader &Reader;
  std::vector<pieces::PackedFile> Files;
  std::string Problem;
  mutable std::mutex Lock;
  mutable std::optional<std::string> Root;
};

} // namespace chronicle::files

#endif
