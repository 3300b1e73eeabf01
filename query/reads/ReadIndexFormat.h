// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The bytes of an index of reads.
///
///   index := "CHRREADS" version:u32 zero:u32 identity:u64 checksum:u64 part*
///   part  := "PART" codec:u32 first:u64 end:u64 units-size:u64
///            table-raw-size:u64 table-size:u64 checksum:u64
///            unit* table:u8[table-size] padding to 8
///   unit  := raw-size:u32 stored-size:u32 codec:u8 zero:u8[7]
///            chunk*, compressed
///   table := { frame:v (minus that of the entry before) first:v last:v (from
///              the part's first block and from first) unit:v (offset from the
///              part's first unit) offset:v (in the unit) granules:u64[8] }*
///   chunk := { gap:v (blocks since the one before, from the chunk's first)
///              words:u8 { bytes:u8 changed:u8* }* }*
///
/// A part has the reads of blocks first to end - 1. Parts follow each other
/// without a gap, so an index that was not finished can be continued. A chunk
/// has, for the blocks that read one frame, which of its granules they read, as
/// the difference to the block before: a program that does the same again reads
/// the same again. Bits of `words` name the 64-bit words that differ, bits of
/// `bytes` the bytes of such a word.

#ifndef CHRONICLE_QUERY_READS_READINDEXFORMAT_H
#define CHRONICLE_QUERY_READS_READINDEXFORMAT_H

#include "trace-format/Bytes.h"
#include "trace-format/FileFormat.h"
#include "trace-format/TraceData.h"
#include "trace-format/file/TraceReader.h"
#include "llvm/Support/Error.h"
#include <array>
#include <map>

namespace chronicle::reads {

using Granules = std::array<uint64_t, GranuleWords>;

/// Stands for the recorded run, whatever is packed into its trace later.
uint64_t identityOf(const file::TraceReader &Trace);

constexpr size_t IndexHeaderSize = 32, PartHeaderSize = 56;
std::array<uint8_t, IndexHeaderSize> encodeIndexHeader(uint64_t Identity);
/// Whether the bytes begin with the header of this run's index.
bool isIndexHeader(llvm::ArrayRef<uint8_t> Bytes, uint64_t Identity);

/// Collects the reads of blocks, which must come in order, for one part.
class PartWriter {
public:
  explicit PartWriter(BlockNumber First) : First(First), End(First) {}
  void add(BlockNumber N, FrameNumber Frame, const Granules &Read);
  /// The blocks before N are complete.
  void advance(BlockNumber N) { End = N; }
  BlockNumber first() const { return First; }
  BlockNumber end() const { return End; }
  /// The bytes of the part.
  llvm::SmallVector<uint8_t, 0> finish();

private:
  struct Chunk {
    BlockNumber First = 0, Last = 0;
    Granules All{}, Previous{};
    ByteWriter Bytes;
  };
  struct Placed;
  BlockNumber First, End;
  std::map<FrameNumber, std::vector<Chunk>> Frames;
};

/// A part as it lies in memory; units and chunks are read when needed.
struct Part {
  BlockNumber First, End;
  /// Offset counts from the start of the part: the unit's place, then 16 bits
  /// for the place in the unit.
  std::vector<PageChunkEntry> Chunks;
  uint64_t Size; ///< in bytes, with padding
};
/// Reads the part that the bytes begin with. Fails if it is not whole.
llvm::Expected<Part> readPart(llvm::ArrayRef<uint8_t> Bytes);

/// The blocks from From to To that read any of the granules, according to one
/// chunk of the part that begins at Bytes, in order.
llvm::Error blocksOf(llvm::ArrayRef<uint8_t> Bytes, const PageChunkEntry &Chunk,
                     uint64_t Offset, const uint64_t Wanted[GranuleWords],
                     BlockNumber From, BlockNumber To,
                     std::vector<BlockNumber> &Found);

} // namespace chronicle::reads

#endif
