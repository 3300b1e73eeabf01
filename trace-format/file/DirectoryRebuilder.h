// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Makes a directory for a trace that has no sound one.

#ifndef CHRONICLE_TRACE_FORMAT_FILE_DIRECTORYREBUILDER_H
#define CHRONICLE_TRACE_FORMAT_FILE_DIRECTORYREBUILDER_H

#include "trace-format/file/Directory.h"
#include "trace-format/pieces/ThreadBlocks.h"
#include <string>

namespace chronicle::file {

struct RebuiltDirectory {
  Directory Dir;
  /// The tables that a complete trace has in pieces of their own.
  std::vector<BlockEntry> Blocks;
  std::vector<pieces::ThreadStretch> Threads;
  std::vector<PageChunkEntry> Chunks; ///< sorted by frame, then first block
  /// Why the trace is not whole; empty if only the directory was lost.
  std::string Truncated;
};

/// Scans the file from its start to the first piece that is damaged and makes
/// the directory of what the last checkpoint before it covers. Reads and
/// decompresses that part of the file once. Fails if there is no checkpoint.
llvm::Expected<RebuiltDirectory> rebuildDirectory(llvm::ArrayRef<uint8_t> File,
                                                  llvm::StringRef Path);

} // namespace chronicle::file

#endif
