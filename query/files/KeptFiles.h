// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Copies of programs and libraries as they were when they were recorded, so
/// that a new build does not spoil the trace of an old one.

#ifndef CHRONICLE_QUERY_FILES_KEPTFILES_H
#define CHRONICLE_QUERY_FILES_KEPTFILES_H

#include "query/files/FileCache.h"
#include <vector>

namespace chronicle::files {

/// A copy shares its bytes with the original where the file system can do that.
class KeptFiles {
public:
  explicit KeptFiles(FileCache Cache) : Cache(std::move(Cache)) {}

  /// Keeps the file that the descriptor has open, and the debug file that its
  /// .gnu_debuglink names, if that lies beside it. Path says what it is called.
  /// Costs one look into the directory if the build is kept already. Does not
  /// close the descriptor.
  llvm::Error keep(int Descriptor, llvm::StringRef Path) const;

  /// The copies that may be of the recorded file: by its build id or, if it has
  /// none, by its first page. The caller checks that they are.
  std::vector<std::string> find(llvm::StringRef Name, llvm::StringRef BuildId,
                                llvm::ArrayRef<uint8_t> FirstPage) const;

private:
  FileCache Cache;
};

/// Whether libraries of the directory come with the system, which keeps them
/// for long and can give them back: they are not worth a copy.
bool isSystemPath(llvm::StringRef Path);

} // namespace chronicle::files

#endif
