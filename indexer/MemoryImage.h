// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The recorded program's memory as the stream describes it, and which granules
/// of it the current block wrote.

#ifndef CHRONICLE_INDEXER_MEMORYIMAGE_H
#define CHRONICLE_INDEXER_MEMORYIMAGE_H

#include "indexer/model/SharedMap.h"
#include "trace-format/FileFormat.h"
#include "trace-format/Stream.h"
#include "trace-format/pieces/PageChunkFormat.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Compiler.h"
#include <cstring>
#include <memory>
#include <vector>

namespace chronicle::indexer {

/// A frame that has been written.
struct Page {
  alignas(64) uint8_t Data[PageSize];
  uint64_t Dirty[GranuleWords]; ///< granules that the block wrote
  uint8_t
      Changed[GranulesPerPage]; ///< per granule, one bit per byte that changed
  FrameNumber Frame;
  std::unique_ptr<pieces::PageChunkWriter> Chunk; ///< open, or null
  uint32_t ChainBytes = 0;  ///< of deltas since the last chunk with a base
  uint32_t ChainChunks = 0; ///< closed ones that have them
  bool Listed;              ///< in the block's list of pages
  bool Zeroed; ///< became zero in this block; Dirty counts from then
  bool Fresh;  ///< allocated in this block: zero before it

  /// Sets a granule.
  LLVM_ATTRIBUTE_ALWAYS_INLINE void put(unsigned Granule, uint64_t Value) {
    uint64_t Old;
    std::memcpy(&Old, Data + Granule * GranuleSize, GranuleSize);
    std::memcpy(Data + Granule * GranuleSize, &Value, GranuleSize);
    // Sets the highest bit of each byte that is not zero, then gathers these
    // bits.
    uint64_t Low = 0x7f7f7f7f7f7f7f7full, Differs = Old ^ Value;
    uint64_t Bits = (((Differs & Low) + Low) | Differs) & ~Low;
    Changed[Granule] |= uint8_t((Bits >> 7) * 0x0102040810204080ull >> 56);
  }
  /// Sets any bytes of the page.
  void put(unsigned Offset, const uint8_t *Bytes, unsigned Size);
};

/// Costs 4.7 KB per frame. A store costs a few nanoseconds if it hits the small
/// cache of translations. Frames that were never written, or became zero, do
/// not exist.
class MemoryImage {
public:
  MemoryImage();
  ~MemoryImage();

  /// A store of 1 to 32 bytes; none if the address is CH_NO_ADDRESS.
  void store(uint64_t Address, const uint8_t *Bytes, unsigned Size) {
    if (Address != CH_NO_ADDRESS)
      write(Address, Bytes, Size);
  }

  /// Any number of bytes.
  void write(uint64_t Address, const uint8_t *Bytes, uint64_t Size);
  /// Writes granules of one page: one bit and 8 bytes for each.
  void writeGranules(uint64_t Address, const uint64_t Granules[GranuleWords],
                     const uint8_t *Bytes);
  /// Writes zeros: whole frames that exist become zero, parts are written.
  void zero(uint64_t Address, uint64_t Size);
  void read(uint64_t Address, uint8_t *Out, uint64_t Size) const;
  bool equals(uint64_t Address, const uint8_t *Bytes, uint64_t Size) const;

  /// A new mapping of private memory (Object 0), or of a shared object from
  /// byte Offset on. Private frames in the range become zero.
  void map(uint64_t Address, uint64_t Size, uint32_t Object, uint64_t Offset);
  void unmap(uint64_t Address, uint64_t Size) { map(Address, Size, 0, 0); }

  /// Whether the page belongs to a shared object.
  bool isShared(uint64_t Address) const {
    return Shared.frameOf(Address / PageSize) >= SharedFrames;
  }

  /// The pages of this block, in the order of their first write. The caller
  /// goes through them once at the end of the block and then calls endBlock().
  llvm::ArrayRef<Page *> touched() const { return Touched; }
  /// Forgets what was dirty, and frees the pages that are zero now.
  void endBlock();

  uint64_t pageCount() const { return Pages.size(); }

private:
  static constexpr unsigned CacheSize = 1024;
  static constexpr unsigned SlabPages = 64;
  static constexpr uint64_t NoVpn = ~uint64_t(0);
  struct Translation {
    uint64_t Vpn;
    Page *P;
  };

  /// Returns the page, after adding it to the block's list and to the cache.
  Page &toWrite(uint64_t Vpn);
  const Page *toRead(uint64_t Vpn) const;
  void list(Page &P);
  void zeroFrames(FrameNumber First, FrameNumber Last);
  void zeroPages(uint64_t First, uint64_t Last);
  void zeroPage(Page &P);
  void emptyCache();
  Page *allocate();

  Translation Cache[CacheSize];
  llvm::DenseMap<FrameNumber, Page *> Pages;
  model::SharedMap Shared;
  std::vector<Page *> Touched;
  std::vector<std::unique_ptr<Page[]>> Slabs;
  std::vector<Page *> Free;
};

} // namespace chronicle::indexer

#endif
