// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The piece at the end of the file that finds everything else.
///
///   directory := section*     3 pieces, 4 totals
///   pieces    := count:v (type:u8 offset:v key:v)*
///   totals    := instructions:v blocks:v executions:v
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

struct Directory {
  std::vector<OtherPiece> Pieces; ///< in the order of the file
  Timestamp Instructions = 0;
  uint64_t Blocks = 0;
  uint64_t Executions = 0;
};

void encodeDirectory(ByteWriter &Out, const Directory &D);
llvm::Expected<Directory> decodeDirectory(llvm::ArrayRef<uint8_t> Raw);

} // namespace chronicle::file

#endif
