// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The piece at the end of the file that finds everything else.
///
///   directory := section*     3 pieces, 4 totals
///   pieces    := count:v (type:u8 offset:v key:v)*
///   totals    := instructions:v blocks:v executions:v
///   starts    := count:v (superblock:v exit:v)*
///   copies    := count:v (offset:v size:v payload)*
///
/// offset is a delta to the previous entry. What grows with the run is in
/// pieces of its own, which are used as they lie in the file (Blocks, Threads,
/// Chunks) or read when a question needs them (ExecutionIndex), so that opening
/// a long trace does not decode it.

#ifndef CHRONICLE_TRACE_FORMAT_FILE_DIRECTORY_H
#define CHRONICLE_TRACE_FORMAT_FILE_DIRECTORY_H

#include "trace-format/Bytes.h"
#include "trace-format/FileFormat.h"
#include "trace-format/TraceData.h"
#include "llvm/Support/Error.h"

namespace chronicle::file {

/// A piece that is neither block nor pages.
struct OtherPiece {
  PieceType Type;
  uint64_t Offset;
  uint64_t Key;
};

/// The first superblock and exit that a definitions piece defines.
struct DefinitionStart {
  uint64_t Superblock, Exit;
};

/// What a piece holds, once more: so that one bad byte does not cost the trace.
struct PieceCopy {
  uint64_t Offset; ///< of the piece
  std::vector<uint8_t> Raw;
};

struct Directory {
  std::vector<OtherPiece> Pieces; ///< in the order of the file
  Timestamp Instructions = 0;
  uint64_t Blocks = 0;
  uint64_t Executions = 0;
  /// Of each definitions piece, and behind the last one.
  std::vector<DefinitionStart> Starts;
  std::vector<PieceCopy> Copies;
};

void encodeDirectory(ByteWriter &Out, const Directory &D);
llvm::Expected<Directory> decodeDirectory(llvm::ArrayRef<uint8_t> Raw);

} // namespace chronicle::file

#endif
