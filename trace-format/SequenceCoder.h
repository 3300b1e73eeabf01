// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The sequence of a block: exit numbers, coded against a prediction.
///
///   sequence := (hits:v miss:v)*   hits right predictions, then a symbol + 1
///
/// The prediction after symbol s is its last successor in this block; the first
/// time, the first successor ever seen, which the definitions hold.

#ifndef CHRONICLE_TRACE_FORMAT_SEQUENCECODER_H
#define CHRONICLE_TRACE_FORMAT_SEQUENCECODER_H

#include "trace-format/Bytes.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <vector>

namespace chronicle {

constexpr uint32_t NoSymbol = ~uint32_t(0);

/// Codes the blocks of a run, one after the other. Costs about a nanosecond a
/// symbol and 12 bytes an exit number.
class SequenceCoder {
public:
  /// Exit numbers below Count may be coded from now on.
  void setExitCount(uint32_t Count) { Exits.resize(Count); }

  void beginBlock() {
    Out.clear();
    Seen.clear();
    Previous = NoSymbol;
    Hits = 0;
    ++Epoch;
  }

  LLVM_ATTRIBUTE_ALWAYS_INLINE void add(uint32_t Symbol) {
    uint32_t Prediction = 0;
    if (LLVM_LIKELY(Previous != NoSymbol)) {
      Exit &E = Exits[Previous];
      if (LLVM_LIKELY(E.Epoch == Epoch))
        Prediction = E.Last;
      else
        Prediction = firstTime(E, Symbol);
      E.Last = Symbol;
    }
    Previous = Symbol;
    if (LLVM_LIKELY(Symbol == Prediction)) {
      ++Hits;
      return;
    }
    Out.v(Hits);
    Out.v(uint64_t(Symbol) + 1);
    Hits = 0;
  }

  /// The symbol will be added soon; it may be nonsense.
  void prefetch(uint32_t Symbol) const {
    __builtin_prefetch(Exits.data() + Symbol);
  }

  /// The bytes of the block; valid until beginBlock().
  llvm::ArrayRef<uint8_t> endBlock() {
    if (Hits)
      Out.v(Hits);
    Hits = 0;
    if (Previous != NoSymbol && Exits[Previous].Epoch != Epoch)
      Seen.push_back(Previous);
    return Out.data();
  }
  /// After endBlock(): the symbols of the block, each once.
  llvm::ArrayRef<uint32_t> seen() const { return Seen; }

  /// First successors seen since the last call: {exit, successor}.
  std::vector<std::pair<uint32_t, uint32_t>> takeNewSuccessors() {
    return std::exchange(NewSuccessors, {});
  }
  bool hasNewSuccessors() const { return !NewSuccessors.empty(); }

private:
  struct Exit {
    uint32_t Last = 0;
    uint32_t Epoch = 0;
    uint32_t First = NoSymbol;
  };
  uint32_t firstTime(Exit &E, uint32_t Symbol) {
    E.Epoch = Epoch;
    Seen.push_back(Previous);
    if (E.First == NoSymbol) {
      E.First = Symbol;
      NewSuccessors.emplace_back(Previous, Symbol);
    }
    return E.First;
  }

  std::vector<Exit> Exits;
  ByteWriter Out;
  uint32_t Previous = NoSymbol;
  uint32_t Epoch = 0;
  uint64_t Hits = 0;
  std::vector<uint32_t> Seen;
  std::vector<std::pair<uint32_t, uint32_t>> NewSuccessors;
};

/// Memory that decoding one block after the other can share.
struct SequenceScratch {
  struct Exit {
    uint32_t Last, Epoch;
  };
  std::vector<Exit> Exits;
  uint32_t Epoch = 0;
};

/// \p First has the first successor of each exit number, or NoSymbol.
llvm::Error decodeSequence(llvm::ArrayRef<uint8_t> Bytes, uint64_t Executions,
                           llvm::ArrayRef<uint32_t> First,
                           SequenceScratch &Scratch,
                           std::vector<uint32_t> &Symbols);

} // namespace chronicle

#endif
