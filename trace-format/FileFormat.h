// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The constants of trace.db. docs/format.md, "The database", is the
/// definition.
///
///   file   := header piece* [footer] (piece* footer)*
///   header := "CHRONDB\n" format-version:u32 stream-version:u32 zero:u8[48]
///   piece  := magic:u32 type:u8 codec:u8 zero:u16 raw-size:u32 stored-size:u32
///             key:u64 checksum:u64 payload padding-to-8
///   footer := "CHRONEND" directory-offset:u64 file-size:u64 checksum:u64

#ifndef CHRONICLE_TRACE_FORMAT_FILEFORMAT_H
#define CHRONICLE_TRACE_FORMAT_FILEFORMAT_H

#include <cstdint>

namespace chronicle {

/// Bump on any change of the file's bytes that an older reader would get wrong.
constexpr uint32_t FormatVersion = 12;

constexpr char FileMagic[9] = "CHRONDB\n";
constexpr char FooterMagic[9] = "CHRONEND";
constexpr uint32_t PieceMagic = 0x43504843; // "CHPC"
constexpr uint64_t FileHeaderSize = 64;
constexpr uint64_t PieceHeaderSize = 32;
constexpr uint64_t FooterSize = 32;

enum class PieceType : uint8_t {
  Run = 1,
  Definitions = 2,
  Block = 3,
  Pages = 4,
  Timeline = 5,
  Checkpoint = 6,
  End = 7,
  Directory = 8,
  Activations = 9,
  Executions = 10,
  Programs = 11,
  Chunks = 12,
  Blocks = 13,
  Threads = 14,
  ExecutionIndex = 15,
  Contents = 16,
  Files = 17,
};
constexpr unsigned PieceTypeCount = 18;

/// A table that is used as it lies in the file, so that it is not compressed.
constexpr bool isTable(PieceType Type) {
  return Type == PieceType::Chunks || Type == PieceType::Blocks ||
         Type == PieceType::Threads;
}

/// A piece is at most this large before compression, so that a reader can
/// refuse a damaged size. The tables at the end may be larger.
constexpr uint64_t MaxPieceRawSize = 1u << 30;
/// A page chunk is closed at 12 KiB; the last delta and the image may exceed it
/// by a few pages.
constexpr uint64_t MaxPagesRawSize = 1u << 16;
constexpr uint64_t maxRawSize(PieceType Type) {
  if (isTable(Type) || Type == PieceType::Directory)
    return UINT32_MAX;
  return Type == PieceType::Pages ? MaxPagesRawSize : MaxPieceRawSize;
}

constexpr unsigned PageSize = 4096;
constexpr unsigned GranuleSize = 8;
constexpr unsigned GranulesPerPage = PageSize / GranuleSize;
constexpr unsigned GranuleWords = GranulesPerPage / 64;

/// Frames of private memory are numbered like its pages. Those of shared
/// objects begin here; each object has 2 to the power of SharedObjectShift.
constexpr uint64_t SharedFrames = uint64_t(1) << 62;
constexpr unsigned SharedObjectShift = 36;

/// The frame that holds byte Offset of a shared object.
constexpr uint64_t sharedFrame(uint32_t Object, uint64_t Offset) {
  return SharedFrames + (uint64_t(Object) << SharedObjectShift) +
         Offset / PageSize;
}
/// The object of a frame that is not below SharedFrames, and the page in it.
constexpr uint64_t sharedObjectOf(uint64_t Frame) {
  return (Frame - SharedFrames) >> SharedObjectShift;
}
constexpr uint64_t sharedPageOf(uint64_t Frame) {
  return (Frame - SharedFrames) & ((uint64_t(1) << SharedObjectShift) - 1);
}

/// Tags of the entries of a definitions piece.
enum : uint8_t { DefinitionTag = 1, ReasonNameTag = 2, SuccessorTag = 3 };

/// Sections of a block and of the directory.
enum : uint8_t {
  HeadSection = 1,
  EventsSection,
  SequenceSection,
  OpaqueSection,
  StacksSection
};
enum : uint8_t { PiecesSection = 3, TotalsSection };

/// Kinds of page deltas. Few granules have theirs in the kind: FewGranules,
/// FewUpperHalf if the first is in the page's upper half, and their number.
enum : uint8_t {
  GranulesDelta = 0,
  ZeroDelta = 1,
  ImageDelta = 2,
  FewGranules = 0x80,
  FewUpperHalf = 0x40,
  MaxFewGranules = 0x3f
};

} // namespace chronicle

#endif
