// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A stretch of a frame's history as bytes. Its piece's key is the frame.
///
///   pages := first-block:v base:u8 [image:u8[4096] if base = 1]
///            deltas:v delta*         base 2: as the chunk before left it
///   delta := blocks-since-the-previous-delta:v kind:u8 bytes
///
/// Deltas: 0 granules (words:u8, a u64 for each bit set in words, a mask:u8 for
/// each granule, the bytes that the masks have), 1 zero, 2 image, from 128
/// granules again, if they are few: their number in the low six bits, the top
/// bit of the first one's index in the next, its other bits as place:u8, the
/// distance minus 1 of each other one to the one before, masks, bytes.

#ifndef CHRONICLE_TRACE_FORMAT_PIECES_PAGECHUNKFORMAT_H
#define CHRONICLE_TRACE_FORMAT_PIECES_PAGECHUNKFORMAT_H

#include "trace-format/Bytes.h"
#include "trace-format/FileFormat.h"
#include "trace-format/TraceData.h"
#include "llvm/Support/Error.h"

namespace chronicle::pieces {

/// words:u8, then a u64 for each bit set.
void encodeGranules(ByteWriter &Out, const uint64_t Granules[GranuleWords]);
void decodeGranules(ByteReader &R, uint64_t Granules[GranuleWords]);

/// What a chunk's deltas count from.
enum ChunkBase : uint8_t { ZeroBase, ImageBase, ContinuesBase };

/// A page chunk that is being filled, one delta at a time, in block order.
class PageChunkWriter {
public:
  PageChunkWriter(FrameNumber Frame, BlockNumber First)
      : Frame(Frame), First(First) {}

  /// What a block writes in a frame.
  struct Written {
    const uint8_t *Page;      ///< the frame at the *end* of the block
    const uint64_t *Granules; ///< a bit each that was written
    const uint8_t *Masks;     ///< per granule, one bit per byte that changed
  };
  /// The frame is not zero at the start of the first block, which writes W.
  /// Bytes that change are zero in the base, because the first delta has them
  /// anyway; so the indexer need not keep pages as they were. Call before
  /// adding the first delta.
  void setBase(const Written &W);
  /// The frame is as the chunk before this one left it.
  void setContinues() { Base = ContinuesBase; }
  void addZero(BlockNumber Block);
  void addGranules(BlockNumber Block, const Written &W);

  size_t size() const { return Body.size(); }
  /// The size without an image.
  size_t deltaBytes() const {
    return Body.size() - (Base == ImageBase ? PageSize : 0);
  }
  size_t capacity() const { return Body.capacity(); }
  FrameNumber frame() const { return Frame; }
  BlockNumber first() const { return First; }
  BlockNumber last() const { return Last; }
  const uint64_t *granules() const { return Summary; }
  void encode(ByteWriter &Out) const;

private:
  void startDelta(BlockNumber Block, uint8_t Kind);
  FrameNumber Frame;
  BlockNumber First, Last = 0;
  uint64_t Summary[GranuleWords] = {};
  uint32_t Deltas = 0;
  uint8_t Base = ZeroBase;
  ByteWriter Body; ///< the image, if any, then the deltas
};

/// Goes through a chunk, one delta after the other. Deltas point into the
/// reader's bytes; damage makes the reader fail.
class PageChunkReader {
public:
  /// After the last delta, R is at the end.
  explicit PageChunkReader(ByteReader &R);
  BlockNumber first() const { return First; }
  ChunkBase base() const { return Base; }
  llvm::ArrayRef<uint8_t> image() const { return Image; }
  uint64_t deltasLeft() const { return Left; }
  /// Returns false if there are no more.
  bool next(PageDelta &D);

private:
  ByteReader &R;
  BlockNumber First, Block;
  ChunkBase Base;
  llvm::ArrayRef<uint8_t> Image;
  uint64_t Left;
};

/// Decodes a pages piece.
llvm::Expected<PageChunk> decodePageChunk(FrameNumber Frame,
                                          llvm::ArrayRef<uint8_t> Raw);
/// Brings Page to the start of block N, by a chunk that begins before it. If
/// the chunk continues another, Page must be as that one leaves it.
llvm::Error readPage(llvm::ArrayRef<uint8_t> Raw, BlockNumber N, uint8_t *Page);
/// Whether a pages piece continues the chunk before it.
bool continuesChunk(llvm::ArrayRef<uint8_t> Raw);
/// Applies one delta to a page of 4096 bytes.
void applyDelta(const PageDelta &Delta, uint8_t *Page);

} // namespace chronicle::pieces

#endif
