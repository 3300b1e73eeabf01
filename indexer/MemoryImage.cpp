// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "indexer/MemoryImage.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"
#include <algorithm>

using namespace llvm;

namespace chronicle::indexer {

void Page::put(unsigned Offset, const uint8_t *Bytes, unsigned Size) {
  while (Size) {
    unsigned Granule = Offset / GranuleSize, In = Offset % GranuleSize;
    unsigned Part = std::min<unsigned>(GranuleSize - In, Size);
    uint64_t Value;
    std::memcpy(&Value, Data + Granule * GranuleSize, GranuleSize);
    std::memcpy(reinterpret_cast<uint8_t *>(&Value) + In, Bytes, Part);
    put(Granule, Value);
    Dirty[Granule / 64] |= uint64_t(1) << Granule % 64;
    Offset += Part;
    Bytes += Part;
    Size -= Part;
  }
}

MemoryImage::MemoryImage() { emptyCache(); }
MemoryImage::~MemoryImage() = default;

void MemoryImage::emptyCache() {
  for (Translation &T : Cache)
    T = {NoVpn, nullptr};
}

Page *MemoryImage::allocate() {
  if (Free.empty()) {
    Slabs.emplace_back(new Page[SlabPages]);
    for (unsigned N = SlabPages; N--;)
      Free.push_back(&Slabs.back()[N]);
  }
  Page *P = Free.back();
  Free.pop_back();
  std::memset(P->Data, 0, sizeof(P->Data));
  std::memset(P->Dirty, 0, sizeof(P->Dirty));
  std::memset(P->Changed, 0, sizeof(P->Changed));
  P->Listed = P->Zeroed = false;
  P->Fresh = true;
  P->ChainBytes = P->ChainChunks = 0;
  return P;
}

void MemoryImage::list(Page &P) {
  if (P.Listed)
    return;
  P.Listed = true;
  Touched.push_back(&P);
}

Page &MemoryImage::toWrite(uint64_t Vpn) {
  Translation &T = Cache[Vpn % CacheSize];
  if (T.Vpn == Vpn)
    return *T.P;
  FrameNumber Frame = Shared.frameOf(Vpn);
  Page *&P = Pages[Frame];
  if (!P) {
    P = allocate();
    P->Frame = Frame;
  }
  list(*P);
  T = {Vpn, P};
  return *P;
}

const Page *MemoryImage::toRead(uint64_t Vpn) const {
  const Translation &T = Cache[Vpn % CacheSize];
  return T.Vpn == Vpn ? T.P : Pages.lookup(Shared.frameOf(Vpn));
}

void MemoryImage::write(uint64_t Address, const uint8_t *Bytes, uint64_t Size) {
  while (Size) {
    unsigned Offset = Address % PageSize;
    uint64_t Part = std::min<uint64_t>(Size, PageSize - Offset);
    Page &P = toWrite(Address / PageSize);
    P.put(Offset, Bytes, unsigned(Part));
    Address += Part;
    Bytes += Part;
    Size -= Part;
  }
}

void MemoryImage::writeGranules(uint64_t Address,
                                const uint64_t Granules[GranuleWords],
                                const uint8_t *Bytes) {
  Page &P = toWrite(Address / PageSize);
  for (unsigned W = 0; W < GranuleWords; ++W) {
    P.Dirty[W] |= Granules[W];
    for (uint64_t Bits = Granules[W]; Bits; Bits &= Bits - 1) {
      P.put(W * 64 + llvm::countr_zero(Bits), support::endian::read64le(Bytes));
      Bytes += GranuleSize;
    }
  }
}

void MemoryImage::zero(uint64_t Address, uint64_t Size) {
  static constexpr uint8_t Zeros[PageSize] = {};
  if (uint64_t Into = Address % PageSize; Into && Size) {
    uint64_t Part = std::min(Size, PageSize - Into);
    write(Address, Zeros, Part);
    Address += Part;
    Size -= Part;
  }
  if (uint64_t Whole = Size / PageSize) {
    zeroPages(Address / PageSize, Address / PageSize + Whole - 1);
    Address += Whole * PageSize;
    Size %= PageSize;
  }
  if (Size)
    write(Address, Zeros, Size);
}

void MemoryImage::read(uint64_t Address, uint8_t *Out, uint64_t Size) const {
  while (Size) {
    unsigned Offset = Address % PageSize;
    uint64_t Part = std::min<uint64_t>(Size, PageSize - Offset);
    if (const Page *P = toRead(Address / PageSize))
      std::memcpy(Out, P->Data + Offset, Part);
    else
      std::memset(Out, 0, Part);
    Address += Part;
    Out += Part;
    Size -= Part;
  }
}

bool MemoryImage::equals(uint64_t Address, const uint8_t *Bytes,
                         uint64_t Size) const {
  while (Size) {
    unsigned Offset = Address % PageSize;
    uint64_t Part = std::min<uint64_t>(Size, PageSize - Offset);
    if (const Page *P = toRead(Address / PageSize)) {
      if (std::memcmp(P->Data + Offset, Bytes, Part) != 0)
        return false;
    } else if (!std::all_of(Bytes, Bytes + Part,
                            [](uint8_t B) { return B == 0; })) {
      return false;
    }
    Address += Part;
    Bytes += Part;
    Size -= Part;
  }
  return true;
}

void MemoryImage::zeroPage(Page &P) {
  std::memset(P.Data, 0, sizeof(P.Data));
  std::memset(P.Dirty, 0, sizeof(P.Dirty));
  std::memset(P.Changed, 0, sizeof(P.Changed));
  P.Zeroed = true;
  list(P);
}

void MemoryImage::zeroFrames(FrameNumber First, FrameNumber Last) {
  // A reserved range may be larger than all that was ever written.
  if (Last - First >= Pages.size()) {
    std::vector<Page *> Hit;
    for (const auto &[Frame, P] : Pages)
      if (Frame >= First && Frame <= Last)
        Hit.push_back(P);
    llvm::sort(
        Hit, [](const Page *A, const Page *B) { return A->Frame < B->Frame; });
    for (Page *P : Hit)
      zeroPage(*P);
    return;
  }
  for (FrameNumber Frame = First; Frame <= Last; ++Frame)
    if (Page *P = Pages.lookup(Frame))
      zeroPage(*P);
}

void MemoryImage::zeroPages(uint64_t First, uint64_t Last) {
  for (const model::SharedMap::Range &R : Shared.ranges()) {
    uint64_t From = std::max(First, R.First), To = std::min(Last, R.Last);
    if (From <= To)
      zeroFrames(R.Frame + (From - R.First), R.Frame + (To - R.First));
  }
  // Private frames under a shared mapping do not exist, so the range can be
  // cleared as if it were private.
  zeroFrames(First, Last);
}

void MemoryImage::map(uint64_t Address, uint64_t Size, uint32_t Object,
                      uint64_t Offset) {
  if (!Size)
    return;
  uint64_t First = Address / PageSize, Last = (Address + (Size - 1)) / PageSize;
  if (Last < First)
    return;
  if (!Shared.empty() || Object) {
    Shared.unmap(First, Last);
    emptyCache();
  }
  zeroFrames(First, Last);
  if (Object)
    Shared.map({First, Last, sharedFrame(Object, Offset)});
}

void MemoryImage::endBlock() {
  for (Page *P : Touched) {
    bool Empty = P->Zeroed && !P->Chunk &&
                 llvm::all_of(P->Dirty, [](uint64_t W) { return W == 0; });
    for (unsigned W = 0; W < GranuleWords; ++W) {
      if (P->Dirty[W])
        std::memset(P->Changed + W * 64, 0, 64);
      P->Dirty[W] = 0;
    }
    P->Listed = P->Zeroed = P->Fresh = false;
    if (Empty) {
      Pages.erase(P->Frame);
      Free.push_back(P);
    }
  }
  Touched.clear();
  emptyCache();
}

} // namespace chronicle::indexer
