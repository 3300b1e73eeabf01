// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The programs piece: what questions need to know about superblocks, prepared
/// by the indexer. It has programs in the form that replay runs
/// (query/replay/program/ReplayProgram.h knows what they consist of), and how
/// many instructions an exit passes.
///
///   programs := version:u64 count:u32 exits:u32 checksum:u64
///               offset:u32[count] passed:u8[exits] padding-to-8 program*
///
/// An offset is counted from the start of the piece's payload; 0 means that the
/// superblock of that id has no program here. The checksum is that of passed.

#ifndef CHRONICLE_TRACE_FORMAT_PIECES_PROGRAMFORMAT_H
#define CHRONICLE_TRACE_FORMAT_PIECES_PROGRAMFORMAT_H

#include "trace-format/Bytes.h"
#include "trace-format/FileFormat.h"
#include <functional>
#include <optional>

namespace chronicle::pieces {

/// Makes programs for the indexer, which does not know what they consist of.
struct ProgramMaker {
  uint64_t Version = 0;
  /// The program of a definition, or nothing if it cannot be stored. Its size
  /// is a multiple of 8. Any thread may call it, at any time.
  std::function<std::optional<llvm::SmallVector<uint8_t, 0>>(
      uint32_t Superblock, llvm::ArrayRef<uint8_t> Definition)>
      Make;
};

/// Gathers the piece.
class ProgramsWriter {
public:
  /// Count: highest superblock plus one.
  ProgramsWriter(uint64_t Version, uint32_t Count,
                 llvm::ArrayRef<uint8_t> Passed);
  /// Adds a program; they come in any order. Returns false if the piece has no
  /// room for it.
  bool add(uint32_t Superblock, llvm::ArrayRef<uint8_t> Program);
  llvm::SmallVector<uint8_t, 0> take() { return Out.take(); }

private:
  ByteWriter Out;
};

/// The piece as it lies in the file. Nothing of it is read before it is needed,
/// and the table of offsets has no checksum: a program says itself whose it is.
class StoredPrograms {
public:
  /// No programs at all.
  StoredPrograms() = default;
  /// No programs either if they are of another version. The payload must
  /// outlive it.
  static StoredPrograms create(llvm::ArrayRef<uint8_t> Payload,
                               uint64_t Version);
  /// The piece from the superblock's program on, or nothing. Aligned to 8.
  llvm::ArrayRef<uint8_t> find(uint32_t Superblock) const {
    if (Superblock >= Count)
      return {};
    const uint32_t Offset = llvm::support::endian::read32le(
        Payload.data() + HeadSize + 4 * size_t(Superblock));
    if (!Offset || Offset % 8 || Offset >= Payload.size())
      return {};
    return Payload.drop_front(Offset);
  }

  /// By exit: how many instructions it passes, or ManyPassed. Empty if not
  /// known, or damaged: reads all of it, about 50 microseconds for a million
  /// exits.
  llvm::ArrayRef<uint8_t> passed() const;
  static constexpr uint8_t ManyPassed = 0xff;

  static constexpr size_t HeadSize = 24;

private:
  llvm::ArrayRef<uint8_t> Payload;
  uint32_t Count = 0, Exits = 0;
};

} // namespace chronicle::pieces

#endif
