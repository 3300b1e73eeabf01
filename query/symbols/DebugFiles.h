// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Finds the file of a recorded module, and its separate debug file.

#ifndef CHRONICLE_QUERY_SYMBOLS_DEBUGFILES_H
#define CHRONICLE_QUERY_SYMBOLS_DEBUGFILES_H

#include "query/symbols/SymbolFile.h"

namespace chronicle::symbols {

struct DebugFiles {
  SymbolFile::ElfFile Binary, Debug; ///< either may be empty
  bool IsRecorded = true;            ///< false: of another build
  std::vector<std::string> Problems; ///< sentences
};

/// Looks for the file at Path, and for its debug file by build id
/// (<directory>/.build-id/xx/yyyy.debug) and by its .gnu_debuglink (beside it,
/// in .debug beside it, and under the directories). BuildId is the recorded
/// one, in hexadecimal; a file with another build id is taken only with
/// AnyBuild. If it is empty, the caller has to compare the contents.
DebugFiles findDebugFiles(llvm::StringRef Path, llvm::StringRef BuildId,
                          llvm::ArrayRef<std::string> Directories,
                          bool AnyBuild);

} // namespace chronicle::symbols

#endif
