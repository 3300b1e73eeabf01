// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/SequenceCoder.h"

using namespace llvm;

namespace chronicle {

void SequenceCoder::add(ArrayRef<uint32_t> Exits) {
  for (; Exits.size() > BatchSize; Exits = Exits.drop_front(BatchSize))
    addBatch(Exits.take_front(BatchSize));
  addBatch(Exits);
}

/// Whether a prediction is right no processor can foresee, so nothing branches
/// on it: each one leaves a record, which the next overwrites if it was right.
void SequenceCoder::addBatch(ArrayRef<uint32_t> Exits) {
  uint32_t *Table = Next.data();
  Miss *Missed = Misses.data();
  uint32_t Before = Previous, Last = Before;
  size_t Count = 0;
  for (uint32_t I = 0, N = uint32_t(Exits.size()); I != N; ++I) {
    uint32_t Exit = Exits[I], Predicted = Table[Last];
    Missed[Count] = uint64_t(Predicted) << 32 | I;
    Count += Predicted != Exit;
    Table[Last] = Exit;
    Last = Exit;
  }
  Previous = Last;
  code(Exits, Before, ArrayRef(Missed, Count));
}

void SequenceCoder::code(ArrayRef<uint32_t> Exits, uint32_t Before,
                         ArrayRef<Miss> Misses) {
  size_t From = 0;
  for (Miss M : Misses) {
    uint32_t Index = uint32_t(M), Predicted = uint32_t(M >> 32);
    uint32_t Exit = Exits[Index];
    uint32_t Left = Index ? Exits[Index - 1] : Before;
    Hits += Index - From;
    From = Index + 1;
    if (Predicted & FirstTime) {
      Seen.push_back(Left - 1);
      uint32_t &Successor = First[Left];
      if (!Successor) {
        Successor = Exit;
        NewSuccessors.emplace_back(Left - 1, Exit - 1);
      }
      if (Successor == Exit) {
        ++Hits;
        continue;
      }
    }
    Out.v(Hits);
    Out.v(Exit);
    Hits = 0;
  }
  Hits += Exits.size() - From;
}

Error decodeSequence(ArrayRef<uint8_t> Bytes, uint64_t Executions,
                     ArrayRef<uint32_t> First, SequenceScratch &Scratch,
                     std::vector<uint32_t> &Symbols) {
  // More than any block holds; a wrong count must not eat the memory.
  constexpr uint64_t MaxExecutions = 1u << 28;
  if (Executions > MaxExecutions)
    return createStringError("a block with an impossible number of executions");
  Symbols.clear();
  Symbols.reserve(Executions);
  Scratch.Exits.resize(First.size());
  if (++Scratch.Epoch == 0) {
    std::fill(Scratch.Exits.begin(), Scratch.Exits.end(),
              SequenceScratch::Exit{0, 0});
    Scratch.Epoch = 1;
  }

  ByteReader R(Bytes);
  uint32_t Previous = NoSymbol;
  auto Predict = [&]() -> uint32_t {
    if (Previous == NoSymbol)
      return 0;
    SequenceScratch::Exit &E = Scratch.Exits[Previous];
    if (E.Epoch == Scratch.Epoch)
      return E.Last;
    return First[Previous] == NoSymbol ? 0 : First[Previous];
  };
  auto Take = [&](uint64_t Symbol) {
    if (Symbol >= First.size() || Symbols.size() == Executions)
      return false;
    if (Previous != NoSymbol)
      Scratch.Exits[Previous] = {uint32_t(Symbol), Scratch.Epoch};
    Previous = uint32_t(Symbol);
    Symbols.push_back(Previous);
    return true;
  };
  bool Sound = true;
  while (Sound && !R.atEnd()) {
    uint64_t Hits = R.v();
    for (; Sound && Hits; --Hits)
      Sound = Take(Predict());
    if (!Sound || R.atEnd())
      break;
    uint64_t Miss = R.v();
    Sound = !R.failed() && Miss && Take(Miss - 1);
  }
  if (!Sound || R.failed() || Symbols.size() != Executions)
    return createStringError("the superblock sequence is damaged");
  return Error::success();
}

} // namespace chronicle
