// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The sequence of a block: exit numbers, coded against a prediction.
///
///   sequence := (hits * 2 + 0:v miss:v | hits * 2 + 1:v)*
///
/// Each entry is a number of right predictions, then a wrong one. Instead of
/// the predicted symbol came miss - 1, or what was predicted here before. The
/// prediction after symbol s
/// is its last successor in this block; the first time, the first successor
/// ever seen, which the definitions hold. Most exits have two successors that
/// matter (the next superblock's branch is taken or not), so most misses are
/// one byte.

#ifndef CHRONICLE_TRACE_FORMAT_PIECES_SEQUENCECODER_H
#define CHRONICLE_TRACE_FORMAT_PIECES_SEQUENCECODER_H

#include "trace-format/Bytes.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <vector>

namespace chronicle::pieces {

constexpr uint32_t NoSymbol = ~uint32_t(0);

/// Codes the blocks of a run, one after the other. Costs about two nanoseconds
/// per symbol and 12 bytes per exit number.
class SequenceCoder {
public:
  SequenceCoder() : Next(1), First(1), Other(1), Predicted(BatchSize) {}

  /// Exit numbers below Count may be coded from now on.
  void setExitCount(uint32_t Count) {
    Next.resize(Count + 1, FirstTime);
    First.resize(Count + 1);
    Other.resize(Count + 1);
  }

  void beginBlock() {
    for (uint32_t Symbol : Seen) {
      Next[Symbol + 1] = First[Symbol + 1] | FirstTime;
      Other[Symbol + 1] = 0;
    }
    Next[0] = 1; // what a block is predicted to begin with: symbol 0
    Other[0] = 0;
    Out.clear();
    Seen.clear();
    Previous = 0;
    Hits = 0;
  }

  /// Symbols, each plus 1.
  void add(llvm::ArrayRef<uint32_t> Exits);
  void add(uint32_t Symbol) { add(llvm::ArrayRef<uint32_t>(Symbol + 1)); }

  /// The bytes of the block; valid until beginBlock().
  llvm::ArrayRef<uint8_t> endBlock() {
    if (Hits)
      Out.v(Hits << 1);
    Hits = 0;
    if (Next[Previous] & FirstTime)
      Seen.push_back(Previous - 1);
    return Out.data();
  }
  /// After endBlock(): the symbols of the block, each once.
  llvm::ArrayRef<uint32_t> seen() const { return Seen; }

  /// First successors seen since the last call, up to the last endBlock():
  /// {exit, successor}.
  std::vector<std::pair<uint32_t, uint32_t>> takeNewSuccessors() {
    return std::exchange(NewSuccessors, {});
  }
  bool hasNewSuccessors() const { return !NewSuccessors.empty(); }

private:
  /// In Next: this exit was not left in this block yet. It never matches, so
  /// that its first time counts as a miss.
  static constexpr uint32_t FirstTime = 1u << 31;
  /// Small enough that all of a batch is still in the first-level cache
  /// afterwards.
  static constexpr size_t BatchSize = 1024;

  void addBatch(llvm::ArrayRef<uint32_t> Exits);
  void code(llvm::ArrayRef<uint32_t> Exits, uint32_t Before);

  // Exit numbers here count from 1; 0 is before the first.
  std::vector<uint32_t> Next;      ///< the prediction
  std::vector<uint32_t> First;     ///< the first successor ever; 0: none yet
  std::vector<uint32_t> Other;     ///< the prediction before this one; 0: none
  std::vector<uint32_t> Predicted; ///< for each symbol of the batch
  uint32_t Previous = 0;
  uint64_t Hits = 0; ///< since the last miss
  ByteWriter Out;
  std::vector<uint32_t> Seen;
  std::vector<std::pair<uint32_t, uint32_t>> NewSuccessors;
};

/// What decoding a block knows about the exits it has seen, in memory that
/// blocks can share one after the other. It is a hash table: a block has a few
/// thousand of the run's hundreds of thousands of exits, and in a table of all
/// exits every few of them would touch another page of memory.
class SequenceScratch {
public:
  struct Exit {
    uint64_t Key;
    uint32_t Last, Other; ///< successors
  };
  SequenceScratch() : Table(1 << 11) {}
  void beginBlock();
  /// The entry of an exit; when it is met for the first time in this block, its
  /// last successor is the first one ever, or symbol 0. Valid until the next
  /// call.
  Exit &find(uint32_t Number, llvm::ArrayRef<uint32_t> First) {
    const uint64_t Key = uint64_t(Epoch) << 32 | Number;
    for (size_t I = slot(Number);; I = (I + 1) & (Table.size() - 1)) {
      Exit &E = Table[I];
      if (LLVM_LIKELY(E.Key == Key))
        return E;
      if (E.Key >> 32 != Epoch)
        return add(E, Number, First);
    }
  }

private:
  size_t slot(uint32_t Number) const { return (Number * 0x9e3779b1u) >> Shift; }
  Exit &add(Exit &Free, uint32_t Number, llvm::ArrayRef<uint32_t> First);
  std::vector<Exit> Table; ///< a power of two; of other epochs: free
  unsigned Shift = 32 - 11;
  uint32_t Epoch = 0;
  size_t Used = 0;
};

/// \p First has the first successor of each exit number, or NoSymbol.
llvm::Error decodeSequence(llvm::ArrayRef<uint8_t> Bytes, uint64_t Executions,
                           llvm::ArrayRef<uint32_t> First,
                           SequenceScratch &Scratch,
                           std::vector<uint32_t> &Symbols);

} // namespace chronicle::pieces

#endif
