// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The memory a replay reads and writes: frames of 4 KiB, fetched from the
/// trace when first touched, reached through a small translation table.

#ifndef CHRONICLE_QUERY_REPLAY_MACHINE_REPLAYMEMORY_H
#define CHRONICLE_QUERY_REPLAY_MACHINE_REPLAYMEMORY_H

#include "indexer/model/SharedMap.h"
#include "query/replay/machine/FrameFill.h"
#include "query/replay/machine/PageSource.h"
#include "query/replay/machine/ReplayFrame.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>
#include <string>
#include <vector>

namespace chronicle::machine {

/// An access within a page costs a handful of instructions once the page is in
/// the table. A miss costs a hash lookup, and the first touch of a frame a read
/// from the trace. Every frame that was written is kept, which takes 4.7 KB
/// each; a frame that is only read may be the source's own. Mapping memory, or
/// filling it with a file's contents, costs nothing but for the frames that are
/// touched.
///
/// A frame that cannot be read is zero, and the first error is kept for
/// takeError().
class ReplayMemory {
public:
  /// MarksReads: notes which granules are read, for readFrames(). Frames are
  /// then never the source's own.
  ReplayMemory(PageSource &Source, BlockNumber Start, bool MarksReads = false);
  ~ReplayMemory();
  ReplayMemory(const ReplayMemory &) = delete;
  ReplayMemory &operator=(const ReplayMemory &) = delete;

  using SharedRange = model::SharedMap::Range;
  /// Forgets everything. From now on frames are those at the start of block
  /// Start, and shared objects are mapped at Ranges, which must be sorted and
  /// disjoint.
  void reset(BlockNumber Start, llvm::ArrayRef<SharedRange> Ranges = {});

  template <class T> T load(uint64_t Address) {
    const Entry<const uint8_t> &E = ReadTable[slot(Address)];
    if (LLVM_LIKELY((Address + sizeof(T) - 1) >> 12 == E.Page))
      return operations::loadValue<T>(E.Bytes + (Address & 4095));
    return loadSlow<T>(Address);
  }

  /// The same in a memory that marks reads.
  template <class T> T loadMarked(uint64_t Address) {
    const Entry<const uint8_t> &E = ReadTable[slot(Address)];
    if (LLVM_LIKELY((Address + sizeof(T) - 1) >> 12 == E.Page)) {
      const uint64_t Offset = Address & 4095;
      mark<sizeof(T)>(const_cast<uint8_t *>(E.Bytes) + ReadFlags, Offset);
      return operations::loadValue<T>(E.Bytes + Offset);
    }
    return loadSlow<T>(Address);
  }

  template <class T> void store(uint64_t Address, const T &Value) {
    const Entry<uint8_t> &E = WriteTable[slot(Address)];
    if (LLVM_LIKELY((Address + sizeof(T) - 1) >> 12 == E.Page)) {
      uint64_t Offset = Address & 4095;
      operations::storeValue(E.Bytes + Offset, Value);
      mark<sizeof(T)>(E.Bytes + CH_PAGE_SIZE, Offset);
      return;
    }
    write(Address, &Value, sizeof(T));
  }

  void read(uint64_t Address, void *To, size_t Size);
  /// Marks the granules it touches as dirty, even if their bytes do not change.
  void write(uint64_t Address, const void *From, size_t Size);

  /// What events of a block do to memory.
  void map(const ch_ev_map &Map);
  void unmap(uint64_t Address, uint64_t Length);
  /// Whole pages become zero and have no dirty granules; parts of pages are
  /// written.
  void zero(uint64_t Address, uint64_t Length);
  /// Writes bytes that only the page chunks hold: those at the end of block N.
  void writeByReference(uint64_t Address, uint64_t Length, BlockNumber N);

  /// Do only what map() and unmap() do to the translation of shared objects.
  /// They bring a memory up to date that starts in the middle of the run.
  void mapShared(const ch_ev_map &Map);
  void unmapShared(uint64_t Address, uint64_t Length);

  /// Frames that were written or became zero since the last clearDirty(). One
  /// that became zero may have no dirty granule. Reads all frames that were
  /// filled.
  llvm::ArrayRef<ReplayFrame *> dirtyFrames();
  /// The same in two parts, for callers that do not need the bytes of untouched
  /// frames: the fills happened first, then these frames changed.
  llvm::ArrayRef<FrameFill> dirtyFills() const {
    return llvm::ArrayRef(Fills).drop_front(CleanFills);
  }
  llvm::ArrayRef<ReplayFrame *> touchedDirtyFrames() const { return DirtyList; }
  void clearDirty();

  bool marksReads() const { return MarksReads; }
  /// Frames that were read since the last clearReads(), if it marks reads.
  llvm::ArrayRef<ReplayFrame *> readFrames() const { return ReadList; }
  void clearReads();
  /// Where the flags of a page's reads are, from its first byte on.
  static constexpr size_t ReadFlags = offsetof(ReplayFrame, Read);

  FrameNumber frameAt(uint64_t Address) const {
    return Shared.frameOf(Address >> 12);
  }
  /// The frame, if it may differ from what the source has.
  const ReplayFrame *find(FrameNumber Number) const {
    return Frames.lookup(Number);
  }
  /// How many bytes are allocated for frames.
  size_t bytes() const {
    return Slabs.size() * SlabFrames * sizeof(ReplayFrame);
  }
  /// Where shared objects are mapped.
  llvm::ArrayRef<SharedRange> sharedRanges() const { return Shared.ranges(); }
  /// How many frames were read that were never written.
  uint64_t absentFrames() const { return Absent; }
  llvm::Error takeError();

  /// How many entries each table has that leads from a page's number to its
  /// bytes.
  static constexpr unsigned TableSize = 1024;
  /// Those tables, for native code that does what load() and store() do.
  const void *readTable() const { return ReadTable; }
  const void *writeTable() const { return WriteTable; }

private:
  template <class Byte> struct Entry {
    uint64_t Page = ~uint64_t(0);
    Byte *Bytes = nullptr;
  };
  static unsigned slot(uint64_t Address) {
    return (Address >> 12) & (TableSize - 1);
  }

  template <unsigned Size> static void mark(uint8_t *Flags, uint64_t Offset) {
    Flags[Offset >> 3] = 1;
    for (unsigned I = 8; I < Size; I += 8)
      Flags[(Offset + I) >> 3] = 1;
    if (Size > 1)
      Flags[(Offset + Size - 1) >> 3] = 1;
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
  void noteRead(FrameNumber Number, size_t Offset, size_t Size);
  void zeroFrame(ReplayFrame *Frame);
  void zeroPages(uint64_t First, uint64_t Last);
  void addFill(const FrameFill &F);
  void applyFills(ReplayFrame *Frame);
  bool readFrom(BlockNumber N, FrameNumber Number, uint8_t *Page);
  void flush();

  Entry<const uint8_t> ReadTable[TableSize];
  Entry<uint8_t> WriteTable[TableSize];
  PageSource &Source;
  const bool MarksReads;
  BlockNumber Start;
  llvm::DenseMap<FrameNumber, ReplayFrame *> Frames;
  /// The source's own copies of frames that are not in Frames and have no fill.
  llvm::DenseMap<FrameNumber, const uint8_t *> Lent;
  static constexpr unsigned SlabFrames = 16;
  std::vector<std::unique_ptr<ReplayFrame[]>> Slabs; ///< what Frames point to
  std::vector<ReplayFrame *> DirtyList, ReadList;
  /// For frames that are not in Frames; those in Frames have been filled.
  std::vector<FrameFill> Fills;
  size_t CleanFills = 0; ///< how many came before the last clearDirty()
  model::SharedMap Shared;
  uint64_t Absent = 0;
  std::string Problem;
};

} // namespace chronicle::machine

#endif
