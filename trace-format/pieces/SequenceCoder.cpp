// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/pieces/SequenceCoder.h"
#include "llvm/ADT/bit.h"
#include <emmintrin.h>

using namespace llvm;

namespace chronicle::pieces {

void SequenceCoder::add(ArrayRef<uint32_t> Exits) {
  for (; Exits.size() > BatchSize; Exits = Exits.drop_front(BatchSize))
    addBatch(Exits.take_front(BatchSize));
  addBatch(Exits);
}

/// Branches on whether a prediction is right would be mispredicted, so there
/// are none: first all predictions of a batch are stored and replaced, then the
/// wrong ones are searched, sixteen at a time.
void SequenceCoder::addBatch(ArrayRef<uint32_t> Exits) {
  uint32_t *Table = Next.data(), *Was = Predicted.data();
  const uint32_t *From = Exits.data();
  const uint32_t Before = Previous;
  uint32_t Last = Before;
#pragma GCC unroll 8
  for (size_t I = 0, N = Exits.size(); I != N; ++I) {
    uint32_t Exit = From[I];
    Was[I] = Table[Last];
    Table[Last] = Exit;
    Last = Exit;
  }
  Previous = Last;
  code(Exits, Before);
}

/// Returns one bit for each of up to 64 numbers, set if they differ.
static uint64_t differences(const uint32_t *A, const uint32_t *B,
                            size_t Count) {
  auto Equal = [&](size_t I) {
    return _mm_cmpeq_epi32(
        _mm_loadu_si128(reinterpret_cast<const __m128i *>(A + I)),
        _mm_loadu_si128(reinterpret_cast<const __m128i *>(B + I)));
  };
  uint64_t Result = 0;
  size_t I = 0;
  for (; I + 16 <= Count; I += 16) {
    __m128i Low = _mm_packs_epi32(Equal(I), Equal(I + 4));
    __m128i High = _mm_packs_epi32(Equal(I + 8), Equal(I + 12));
    int Bits = _mm_movemask_epi8(_mm_packs_epi16(Low, High));
    Result |= uint64_t(uint16_t(~Bits)) << I;
  }
  for (; I < Count; ++I)
    Result |= uint64_t(A[I] != B[I]) << I;
  return Result;
}

void SequenceCoder::code(ArrayRef<uint32_t> Exits, uint32_t Before) {
  // A miss takes two numbers. Room for all of them is reserved, so that the
  // loop need not check.
  size_t Start = Out.size();
  uint8_t *From = Out.grow(Exits.size() * 2 * MaxNumberBytes), *To = From;
  const uint32_t *Taken = Exits.data(), *Was = Predicted.data();
  size_t Next = 0;
  for (size_t Group = 0; Group < Exits.size(); Group += 64)
    for (uint64_t Missed =
             differences(Was + Group, Taken + Group,
                         std::min<size_t>(64, Exits.size() - Group));
         Missed; Missed &= Missed - 1) {
      const size_t Index = Group + countr_zero(Missed);
      const uint32_t Exit = Taken[Index];
      const uint32_t Left = Index ? Taken[Index - 1] : Before;
      uint32_t Expected = Was[Index];
      Hits += Index - Next;
      Next = Index + 1;
      if (Expected & FirstTime) {
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
        Expected = Successor;
      }
      const uint32_t Instead = std::exchange(Other[Left], Expected);
      To = writeNumber(To, std::exchange(Hits, 0) << 1 | (Instead == Exit));
      if (Instead != Exit)
        To = writeNumber(To, Exit);
    }
  Out.truncate(Start + size_t(To - From));
  Hits += Exits.size() - Next;
}

void SequenceScratch::beginBlock() {
  Used = 0;
  if (++Epoch == 0) {
    std::fill(Table.begin(), Table.end(), Exit());
    Epoch = 1;
  }
}

SequenceScratch::Exit &SequenceScratch::add(Exit &Free, uint32_t Number,
                                            ArrayRef<uint32_t> First) {
  if (++Used <= Table.size() / 2) {
    Free = {uint64_t(Epoch) << 32 | Number,
            First[Number] == NoSymbol ? 0 : First[Number], NoSymbol};
    return Free;
  }
  std::vector<Exit> Old(4 * Table.size());
  Old.swap(Table);
  Shift -= 2;
  for (const Exit &E : Old)
    if (E.Key >> 32 == Epoch) {
      size_t I = slot(uint32_t(E.Key));
      while (Table[I].Key)
        I = (I + 1) & (Table.size() - 1);
      Table[I] = E;
    }
  --Used;
  return find(Number, First);
}

Error decodeSequence(ArrayRef<uint8_t> Bytes, uint64_t Executions,
                     ArrayRef<uint32_t> First, SequenceScratch &Scratch,
                     std::vector<uint32_t> &Symbols) {
  // No block has more executions. A damaged count must not take all memory.
  constexpr uint64_t MaxExecutions = 1u << 28;
  if (Executions > MaxExecutions)
    return createStringError("a block with an invalid number of executions");
  Symbols.clear();
  Symbols.reserve(Executions);
  Scratch.beginBlock();

  ByteReader R(Bytes);
  uint32_t Previous = NoSymbol;
  SequenceScratch::Exit Begin = {0, 0, NoSymbol};
  // What is known of the exit that was taken last.
  auto Known = [&]() -> SequenceScratch::Exit & {
    return Previous == NoSymbol ? Begin : Scratch.find(Previous, First);
  };
  auto Take = [&](uint64_t Symbol) {
    if (Symbol >= First.size() || Symbols.size() == Executions)
      return false;
    Previous = uint32_t(Symbol);
    Symbols.push_back(Previous);
    return true;
  };
  bool Sound = true;
  while (Sound && !R.atEnd()) {
    uint64_t Head = R.v();
    for (uint64_t Hits = Head >> 1; Sound && Hits; --Hits)
      Sound = Take(Known().Last);
    bool Again = Head & 1;
    if (!Sound || (!Again && R.atEnd()))
      break;
    // The other one becomes the last; NoSymbol is none that could be taken.
    SequenceScratch::Exit &E = Known();
    uint64_t Symbol = Again ? E.Other : R.v() - 1;
    E.Other = std::exchange(E.Last, uint32_t(Symbol));
    Sound = !R.failed() && Take(Symbol);
  }
  if (!Sound || R.failed() || Symbols.size() != Executions)
    return createStringError("the superblock sequence is damaged");
  return Error::success();
}

} // namespace chronicle::pieces
