// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The recorded program's memory as the stream tells it, and which granules of
/// it the current block wrote.

#ifndef CHRONICLE_INDEXER_MEMORYIMAGE_H
#define CHRONICLE_INDEXER_MEMORYIMAGE_H

#include "trace-format/FileFormat.h"
#include "trace-format/PageChunkFormat.h"
#include "trace-format/Stream.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Compiler.h"
#include <cstring>
#include <map>
#include <memory>
#include <vector>

namespace chronicle {

/// A frame that has been written.
struct Page {
  alignas(64) uint8_t Data[PageSize];
  uint64_t Dirty[GranuleWords];     ///< granules that the block wrote
  uint8_t Changed[GranulesPerPage]; ///< of each, a bit a byte that changed
  FrameNumber Frame;
  std::unique_ptr<PageChunkWriter> Chunk; ///< open, or null
  uint32_t ChainBytes = 0;  ///< of deltas since the last chunk with a base
  uint32_t ChainChunks = 0; ///< closed ones that have them
  bool Listed;              ///< in the block's list of pages
  bool Zeroed; ///< became zero in this block; Dirty counts from then
  bool Fresh;  ///< came to be in this block: zero before it

  /// The granule becomes this.
  LLVM_ATTRIBUTE_ALWAYS_INLINE void put(unsigned Granule, uint64_t Value) {
    uint64_t Old;
    std::memcpy(&Old, Data + Granule * GranuleSize, GranuleSize);
    std::memcpy(Data + Granule * GranuleSize, &Value, GranuleSize);
    // The highest bit of each byte that is not zero, then those side by side.
    uint64_t Low = 0x7f7f7f7f7f7f7f7full, Differs = Old ^ Value;
    uint64_t Bits = (((Differs & Low) + Low) | Differs) & ~Low;
    Changed[Granule] |= uint8_t((Bits >> 7) * 0x0102040810204080ull >> 56);
  }
  /// Any bytes of the page.
  void put(unsigned Offset, const uint8_t *Bytes, unsigned Size);
};

/// Costs 4.7 KB a frame; a store that hits the small cache of translations a
/// few nanoseconds. Frames that were never written, or became zero, do not
/// exist.
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
  /// Granules of one page: a bit and 8 bytes for each.
  void writeGranules(uint64_t Address, const uint64_t Granules[GranuleWords],
                     const uint8_t *Bytes);
  /// Zeros: whole frames that exist become zero, parts are written.
  void zero(uint64_t Address, uint64_t Size);
  void read(uint64_t Address, uint8_t *Out, uint64_t Size) const;
  bool equals(uint64_t Address, const uint8_t *Bytes, uint64_t Size) const;

  /// A new mapping of private memory (Object 0), or of a shared object from
  /// byte Offset on. Private frames in the range become zero.
  void map(uint64_t Address, uint64_t Size, uint32_t Object, uint64_t Offset);
  void unmap(uint64_t Address, uint64_t Size) { map(Address, Size, 0, 0); }

  /// Does the page belong to a shared object?
  bool isShared(uint64_t Address) const {
    return frameOf(Address / PageSize) >= SharedFrames;
  }

  /// The pages of this block, in the order of their first write. The caller
  /// goes through them once at the end of the block and then calls endBlock().
  llvm::ArrayRef<Page *> touched() const { return Touched; }
  /// Forgets what was dirty, and frees the pages that are zero now.
  void endBlock();

  /// All pages that exist, in no order.
  template <typename Function> void forEachPage(Function Do) const {
    for (const auto &Entry : Pages)
      Do(*Entry.second);
  }
  uint64_t pageCount() const { return Pages.size(); }

private:
  static constexpr unsigned CacheSize = 1024;
  static constexpr unsigned SlabPages = 64;
  static constexpr uint64_t NoVpn = ~uint64_t(0);
  struct Translation {
    uint64_t Vpn;
    Page *P;
  };
  struct Alias {
    uint64_t LastVpn;
    FrameNumber Frame; ///< of the first page
  };

  FrameNumber frameOf(uint64_t Vpn) const;
  /// The page, in the block's list and in the cache.
  Page &toWrite(uint64_t Vpn);
  const Page *toRead(uint64_t Vpn) const;
  void list(Page &P);
  void zeroFrames(FrameNumber First, FrameNumber Last);
  void zeroPages(uint64_t First, uint64_t Last);
  void zeroPage(Page &P);
  void dropAliases(uint64_t First, uint64_t Last);
  void emptyCache();
  Page *allocate();

  Translation Cache[CacheSize];
  llvm::DenseMap<FrameNumber, Page *> Pages;
  std::map<uint64_t, Alias> Aliases; ///< by first vpn; they do not overlap
  std::vector<Page *> Touched;
  std::vector<std::unique_ptr<Page[]>> Slabs;
  std::vector<Page *> Free;
};

} // namespace chronicle

#endif
