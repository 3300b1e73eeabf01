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

/// A frame that has been written. A byte says that a granule is dirty, because
/// setting bits makes stores wait for each other.
struct Page {
  alignas(64) uint8_t Data[PageSize];
  uint8_t Dirty[GranulesPerPage];
  FrameNumber Frame;
  std::unique_ptr<PageChunkWriter> Chunk; ///< open, or null
  bool Listed;                            ///< in the block's list of pages
  bool Zeroed; ///< became zero in this block; Dirty counts from then
  bool Fresh;  ///< came to be in this block: zero before it
};

/// Costs 4.7 KB a frame; a store that hits the small cache of translations a
/// few nanoseconds. Frames that were never written, or became zero, do not
/// exist.
class MemoryImage {
public:
  MemoryImage();
  ~MemoryImage();

  /// A store of 1 to 32 bytes; none if the address is CH_NO_ADDRESS.
  LLVM_ATTRIBUTE_ALWAYS_INLINE void store(uint64_t Address,
                                          const uint8_t *Bytes, unsigned Size) {
    uint64_t Vpn = Address / PageSize;
    unsigned Offset = Address % PageSize;
    const Translation &T = Cache[Vpn % CacheSize];
    if (LLVM_UNLIKELY(T.Vpn != Vpn || Offset + Size > PageSize)) {
      // No page holds CH_NO_ADDRESS, so stores that did not happen end up here.
      if (Address != CH_NO_ADDRESS)
        write(Address, Bytes, Size);
      return;
    }
    uint8_t *To = T.P->Data + Offset;
    uint8_t *Dirty = T.P->Dirty + Offset / GranuleSize;
    if (LLVM_LIKELY(Size == 8)) {
      std::memcpy(To, Bytes, 8);
    } else if (LLVM_LIKELY(Size == 4)) {
      std::memcpy(To, Bytes, 4);
    } else if (Size == 1) {
      *To = *Bytes;
    } else if (Size == 2) {
      std::memcpy(To, Bytes, 2);
    } else {
      std::memcpy(To, Bytes, Size);
      for (unsigned N = 1; N < Size / GranuleSize; ++N)
        Dirty[N] = 1;
    }
    Dirty[0] = 1;
    T.P->Dirty[(Offset + Size - 1) / GranuleSize] = 1;
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
