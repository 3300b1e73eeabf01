// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The memory a replay reads and writes: frames of 4 KiB, fetched from the
/// trace when first touched, reached through a small translation table.

#ifndef CHRONICLE_QUERY_REPLAYMEMORY_H
#define CHRONICLE_QUERY_REPLAYMEMORY_H

#include "query/Values.h"
#include "trace-format/FileFormat.h"
#include "trace-format/Stream.h"
#include "trace-format/TraceData.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace chronicle {

/// Where the bytes of frames come from. Called on misses only, and once a frame
/// unless the memory is reset.
class PageSource {
public:
  virtual ~PageSource();
  /// The frame at the start of block N into Page. False: it was never written,
  /// and Page is left alone.
  virtual llvm::Expected<bool> readFrame(FrameNumber Frame, BlockNumber N,
                                         uint8_t *Page) = 0;
  /// The same where the source keeps it: there until the memory that asks for
  /// it is reset, and never changed. Null: readFrame tells.
  virtual llvm::Expected<const uint8_t *> lendFrame(FrameNumber Frame,
                                                    BlockNumber N) {
    return nullptr;
  }
  /// Calls Visit for each frame from First to Last that was ever written.
  virtual void visitFrames(FrameNumber First, FrameNumber Last,
                           llvm::function_ref<void(FrameNumber)> Visit) = 0;
};

/// A page and which of its granules were written since the last clearDirty. The
/// flags follow the bytes, so that one pointer reaches both.
struct ReplayFrame {
  alignas(64) uint8_t Bytes[CH_PAGE_SIZE];
  uint8_t Dirty[GranulesPerPage];
  FrameNumber Number;
  bool Listed = false; ///< is in the list of written frames
  bool Zeroed = false; ///< became zero as a whole since the last clearDirty

  /// Dirty as bits.
  void dirtyGranules(uint64_t (&Words)[GranuleWords]) const {
    for (unsigned W = 0; W < GranuleWords; ++W) {
      Words[W] = 0;
      // Eight flags of 0 or 1 at once: the product's top byte is their bits.
      for (unsigned I = 0; I < 8; ++I)
        Words[W] |= loadValue<uint64_t>(Dirty + W * 64 + I * 8) *
                        0x0102040810204080 >> 56 << I * 8;
    }
  }
};
static_assert(offsetof(ReplayFrame, Dirty) == CH_PAGE_SIZE);

/// Something that happened to whole frames at once, and costs nothing until one
/// of them is touched: they became zero, or got what they hold at the start of
/// a block.
struct FrameFill {
  FrameNumber First, Last;
  std::optional<BlockNumber> From; ///< nothing: zero
  bool covers(FrameNumber Number) const {
    return First <= Number && Number <= Last;
  }
};
/// The last one that covers the frame, or null.
const FrameFill *lastFill(llvm::ArrayRef<FrameFill> Fills, FrameNumber Number);

/// An access within a page costs a handful of instructions once the page is in
/// the table; a miss costs a hash lookup, and the first touch of a frame a read
/// from the trace. Keeps every frame it ever wrote: 4.7 KB each; what it only
/// reads may be the source's own. A mapping, or a file's contents, costs
/// nothing but for the frames that are touched.
///
/// A frame that cannot be read is zero, and the first error is kept for
/// takeError().
class ReplayMemory {
public:
  ReplayMemory(PageSource &Source, BlockNumber Start);
  ~ReplayMemory();
  ReplayMemory(const ReplayMemory &) = delete;
  ReplayMemory &operator=(const ReplayMemory &) = delete;

  /// A shared object's pages, mapped at these.
  struct SharedRange {
    uint64_t First, Last; ///< pages
    FrameNumber Frame;    ///< of the first
  };
  /// Forgets everything: frames come from the start of another block, and
  /// shared objects are where Ranges says (sorted, apart).
  void reset(BlockNumber Start, llvm::ArrayRef<SharedRange> Ranges = {});

  template <class T> T load(uint64_t Address) {
    const Entry<const uint8_t> &E = ReadTable[slot(Address)];
    if (LLVM_LIKELY((Address + sizeof(T) - 1) >> 12 == E.Page))
      return loadValue<T>(E.Bytes + (Address & 4095));
    return loadSlow<T>(Address);
  }

  template <class T> void store(uint64_t Address, const T &Value) {
    const Entry<uint8_t> &E = WriteTable[slot(Address)];
    if (LLVM_LIKELY((Address + sizeof(T) - 1) >> 12 == E.Page)) {
      uint64_t Offset = Address & 4095;
      storeValue(E.Bytes + Offset, Value);
      markDirty<sizeof(T)>(E.Bytes + CH_PAGE_SIZE, Offset);
      return;
    }
    write(Address, &Value, sizeof(T));
  }

  void read(uint64_t Address, void *To, size_t Size);
  /// Marks the granules it touches, whatever the bytes were before.
  void write(uint64_t Address, const void *From, size_t Size);

  /// What the events of a block do.
  void map(const ch_ev_map &Map);
  void unmap(uint64_t Address, uint64_t Length);
  /// Whole pages become zero and have no written granules; parts are written.
  void zero(uint64_t Address, uint64_t Length);
  /// Bytes that only the page chunks hold: those at the end of block N.
  void writeByReference(uint64_t Address, uint64_t Length, BlockNumber N);

  /// Only what map() does to the translation of shared objects: brings a memory
  /// that starts in the middle of the run up to date.
  void mapShared(const ch_ev_map &Map);
  void unmapShared(uint64_t Address, uint64_t Length);

  /// Frames written or made zero since the last clearDirty. A frame made zero
  /// may have no written granule left. Reads all that were filled.
  llvm::ArrayRef<ReplayFrame *> dirtyFrames();
  /// The same in two parts, for those who need no bytes of frames that nobody
  /// touched: the fills first, then these frames.
  llvm::ArrayRef<FrameFill> dirtyFills() const {
    return llvm::ArrayRef(Fills).drop_front(CleanFills);
  }
  llvm::ArrayRef<ReplayFrame *> touchedDirtyFrames() const { return DirtyList; }
  void clearDirty();

  FrameNumber frameAt(uint64_t Address) const;
  /// The frame, if it may differ from what the source says.
  const ReplayFrame *find(FrameNumber Number) const {
    return Frames.lookup(Number);
  }
  /// Of memory that frames take, or took before the last reset.
  size_t bytes() const {
    return Slabs.size() * SlabFrames * sizeof(ReplayFrame);
  }
  /// Where shared objects are mapped.
  llvm::ArrayRef<SharedRange> sharedRanges() const { return Shared; }
  /// Frames read that were never written by anybody.
  uint64_t absentFrames() const { return Absent; }
  llvm::Error takeError();

  /// Entries of each table that leads from a page's number to its bytes.
  static constexpr unsigned TableSize = 1024;

private:
  friend class NativeCode; // its code does what load() and store() do
  template <class Byte> struct Entry {
    uint64_t Page = ~uint64_t(0);
    Byte *Bytes = nullptr;
  };
  static unsigned slot(uint64_t Address) {
    return (Address >> 12) & (TableSize - 1);
  }

  template <unsigned Size>
  static void markDirty(uint8_t *Dirty, uint64_t Offset) {
    Dirty[Offset >> 3] = 1;
    for (unsigned I = 8; I < Size; I += 8)
      Dirty[(Offset + I) >> 3] = 1;
    if (Size > 1)
      Dirty[(Offset + Size - 1) >> 3] = 1;
  }
  template <class T> LLVM_ATTRIBUTE_NOINLINE T loadSlow(uint64_t Address) {
    T Value;
    read(Address, &Value, sizeof(T));
    return Value;
  }

  const uint8_t *toRead(FrameNumber Number);
  ReplayFrame *frame(FrameNumber Number);
  ReplayFrame *newFrame(FrameNumber Number);
  const uint8_t *lent(FrameNumber Number);
  void giveBack(FrameNumber First, FrameNumber Last);
  ReplayFrame *frameForWrite(FrameNumber Number);
  void list(ReplayFrame *Frame);
  void zeroFrame(ReplayFrame *Frame);
  void zeroPages(uint64_t First, uint64_t Last);
  void addFill(const FrameFill &F);
  void applyFills(ReplayFrame *Frame);
  bool readFrom(BlockNumber N, FrameNumber Number, uint8_t *Page);
  void flush();

  Entry<const uint8_t> ReadTable[TableSize];
  Entry<uint8_t> WriteTable[TableSize];
  PageSource &Source;
  BlockNumber Start;
  llvm::DenseMap<FrameNumber, ReplayFrame *> Frames;
  /// The source's own, of frames that are not in Frames and have no fill.
  llvm::DenseMap<FrameNumber, const uint8_t *> Lent;
  static constexpr unsigned SlabFrames = 16;
  std::vector<std::unique_ptr<ReplayFrame[]>> Slabs; ///< what Frames are in
  std::vector<ReplayFrame *> DirtyList;
  /// Of frames that are not in Frames: those that are know already.
  std::vector<FrameFill> Fills;
  size_t CleanFills = 0;           ///< as many were before the last clearDirty
  std::vector<SharedRange> Shared; ///< sorted, apart
  uint64_t Absent = 0;
  std::string Problem;
};

} // namespace chronicle

#endif
