// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Adds files to a trace that is finished.

#ifndef CHRONICLE_TRACE_FORMAT_FILE_TRACEPACKER_H
#define CHRONICLE_TRACE_FORMAT_FILE_TRACEPACKER_H

#include "trace-format/file/Codec.h"
#include "trace-format/file/Directory.h"
#include "trace-format/pieces/PackedFileFormat.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace chronicle::file {

/// Appends contents, a table, a new directory and a new footer behind the old
/// footer, which stays. Readers that have the file open see no difference. A
/// packer that is destroyed before finish() takes the file back to what it was.
/// If the process is killed, the next reader finds no footer at the end and
/// scans, and the next packer cuts off what the killed one left. One packer at
/// a time: the file is locked.
class TracePacker {
public:
  static llvm::Expected<std::unique_ptr<TracePacker>>
  open(llvm::StringRef Path);
  ~TracePacker();

  /// Begins a file. Its size, place and digest are filled in by endFile().
  void beginFile(pieces::PackedFile File);
  llvm::Error addBytes(llvm::ArrayRef<uint8_t> Bytes);
  /// \return how many bytes the file has.
  uint64_t endFile();

  /// Writes what makes the added files part of the trace.
  /// \return how many bytes the trace has grown by.
  llvm::Expected<uint64_t> finish();

private:
  TracePacker(int Descriptor, llvm::StringRef Path)
      : Descriptor(Descriptor), Path(Path), Packing(Codec::Zstd, Level) {}
  llvm::Error readDirectory();
  llvm::Error append(PieceType Type, uint64_t Key, llvm::ArrayRef<uint8_t> Raw);
  llvm::Error write(llvm::ArrayRef<uint8_t> Bytes);
  llvm::Error endPart();

  /// Files are packed once and carried around often.
  static constexpr int Level = 9;

  int Descriptor;
  std::string Path;
  Compressor Packing;
  Directory Dir;
  uint64_t Before = 0;   ///< the size of the file
  uint64_t End = 0;      ///< where the next byte goes
  uint64_t Sequence = 0; ///< bytes of contents, with those of Part
  ByteWriter Part;
  ByteWriter Table;
  pieces::PackedFile Current;
  llvm::BLAKE3 Digest;
  bool Finished = false;
};

} // namespace chronicle::file

#endif
