// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/pieces/ExecutionFormat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace llvm;

namespace chronicle::pieces {

/// Superblocks.
static constexpr size_t GroupSize = 64;

void ExecutionsWriter::grow(uint32_t Superblock) {
  const size_t Size = Superblock + Superblock / 2 + 16;
  Recent.resize(Size);
  Lists.resize(Size);
  // One more, because ran() writes before it knows whether it must.
  Listed.resize(Size + 1);
}

/// The blocks are bits, counted from RecentFirst.
void ExecutionsWriter::settle(uint32_t Superblock, uint64_t Blocks,
                              bool GoesOn) {
  List &L = Lists[Superblock];
  L.Blocks += uint32_t(popcount(Blocks));
  for (uint32_t At = RecentFirst; Blocks; GoesOn = false) {
    const unsigned Gap = countr_zero(Blocks);
    Blocks >>= Gap;
    const unsigned Length = countr_one(Blocks);
    Blocks >>= Length;
    At += Gap + Length;
    if (GoesOn && !Gap) {
      L.End = At;
      continue;
    }
    if (L.End <= Start)
      Touched.push_back(Superblock);
    else
      close(L);
    L.First = At - Length;
    L.End = At;
  }
}

void ExecutionsWriter::settle(BlockNumber N) {
  size_t Kept = 0;
  for (size_t I = 0; I != ListedCount; ++I) {
    const uint32_t Superblock = Listed[I];
    uint64_t &Bits = Recent[Superblock];
    settle(Superblock, Bits >> 1, Bits & 1);
    // Only a run that includes the block right before N can go on.
    const uint64_t After = N - RecentFirst;
    Bits = After <= RecentBlocks ? Bits >> After & 1 : 0;
    Listed[Kept] = Superblock;
    Kept += Bits;
  }
  ListedCount = Kept;
  RecentFirst = uint32_t(N);
}

ByteWriter ExecutionsWriter::encode(ArrayRef<uint32_t> Superblocks,
                                    BlockNumber End) {
  ByteWriter Out, Bodies;
  Out.v(Start);
  Out.v(End - Start);
  Out.v(divideCeil(Superblocks.size(), GroupSize));
  uint32_t Id = 0;
  while (!Superblocks.empty()) {
    ArrayRef<uint32_t> Group = Superblocks.take_front(GroupSize);
    Superblocks = Superblocks.drop_front(Group.size());
    Out.v(Group.back() - Id);
    const size_t Before = Bodies.size();
    for (uint32_t Superblock : Group) {
      List &L = Lists[Superblock];
      close(L);
      Bodies.v(Superblock - Id);
      Id = Superblock;
      uint32_t Count = 0;
      for (uint32_t N = L.Head; N != None; N = Closed[N].Next)
        ++Count;
      Bodies.v(Count);
      uint32_t At = Start;
      for (uint32_t N = L.Head; N != None; N = Closed[N].Next) {
        Bodies.v(Closed[N].First - At);
        Bodies.v(Closed[N].End - Closed[N].First);
        At = Closed[N].End;
      }
      L.Head = L.Tail = None;
    }
    Out.v(Bodies.size() - Before);
  }
  Out.bytes(Bodies.data());
  return Out;
}

/// Call before encoding what was gathered.
void ExecutionsWriter::gather(BlockNumber End) {
  // No run continues in the next piece.
  settle(End + RecentBlocks + 1);
  RecentFirst = uint32_t(End);
  Runs = 0;
  llvm::sort(Touched);
}

/// Call after encoding it.
void ExecutionsWriter::startAt(BlockNumber N) {
  Closed.clear();
  Taken.swap(Touched);
  Touched.clear();
  Start = uint32_t(N);
}

ByteWriter ExecutionsWriter::take(BlockNumber End) {
  if (End == Start)
    return {};
  gather(End);
  ByteWriter Out = encode(Touched, End);
  startAt(End);
  return Out;
}

std::vector<ExecutionsWriter::Part>
ExecutionsWriter::takeParts(BlockNumber End, size_t PartBytes) {
  std::vector<Part> Parts;
  if (End == Start)
    return Parts;
  gather(End);
  for (ArrayRef<uint32_t> Left = Touched; !Left.empty();) {
    // A run takes two bytes or more, as does the head of a superblock.
    size_t Count = 0;
    for (size_t Bytes = 0; Count < Left.size() && Bytes < PartBytes; ++Count) {
      Bytes += 4;
      for (uint32_t N = Lists[Left[Count]].Head; N != None; N = Closed[N].Next)
        Bytes += 2;
    }
    Parts.push_back({Left.front(), encode(Left.take_front(Count), End)});
    Left = Left.drop_front(Count);
  }
  startAt(End);
  return Parts;
}

static Error damagedExecutions() {
  return createStringError("damaged executions");
}

Expected<ExecutionRange> ExecutionRange::create(ArrayRef<uint8_t> Bytes) {
  ByteReader R(Bytes);
  ExecutionRange Result;
  Result.First = R.v();
  uint64_t Blocks = R.v();
  uint64_t End = Result.First + Blocks;
  if (R.failed() || !Blocks || End > UINT32_MAX || End < Blocks)
    return damagedExecutions();
  Result.Last = End - 1;
  Result.Groups = R.v();
  Result.Table = R.rest();
  if (Result.Groups > R.left() / 2)
    return damagedExecutions();
  R.skipNumbers(2 * Result.Groups);
  if (R.failed())
    return damagedExecutions();
  Result.Lists = R.rest();
  return Result;
}

struct ExecutionRange::Group {
  uint64_t Before; ///< the superblock before it
  uint64_t Last;   ///< its last one
  ArrayRef<uint8_t> Bytes;
};

/// Takes the superblocks that are not above the group's last.
Error ExecutionRange::visitGroup(
    const Group &G, ArrayRef<uint32_t> &Superblocks,
    function_ref<void(const ExecutionRun &)> Visit) const {
  const uint64_t End = Last + 1;
  ByteReader R(G.Bytes);
  uint64_t Id = G.Before;
  while (!R.atEnd() && !Superblocks.empty() && Superblocks.front() <= G.Last) {
    const uint64_t Step = R.v(), Runs = R.v();
    Id += Step;
    if (R.failed() || !Step || Id > G.Last || Runs > R.left())
      return damagedExecutions();
    while (!Superblocks.empty() && Superblocks.front() < Id)
      Superblocks = Superblocks.drop_front();
    if (Superblocks.empty() || Superblocks.front() != Id) {
      R.skipNumbers(2 * Runs);
      continue;
    }
    uint64_t At = First;
    for (uint64_t N = 0; N < Runs; ++N) {
      const uint64_t Gap = R.v(), Length = R.v();
      if (R.failed() || !Length || Gap > End - At || Length > End - At - Gap)
        return damagedExecutions();
      Visit(
          {uint32_t(Id), uint32_t(At + Gap), uint32_t(At + Gap + Length - 1)});
      At += Gap + Length;
    }
    Superblocks = Superblocks.drop_front();
  }
  while (!Superblocks.empty() && Superblocks.front() <= G.Last)
    Superblocks = Superblocks.drop_front();
  return R.failed() ? damagedExecutions() : Error::success();
}

Error ExecutionRange::visit(
    ArrayRef<uint32_t> Superblocks,
    function_ref<void(const ExecutionRun &)> Visit) const {
  ByteReader R(Table);
  Group G = {0, 0, {}};
  uint64_t Offset = 0;
  for (uint64_t N = 0; N < Groups && !Superblocks.empty(); ++N) {
    G.Before = G.Last;
    const uint64_t Step = R.v(), Size = R.v();
    G.Last += Step;
    if (R.failed() || !Step || G.Last > UINT32_MAX ||
        Size > Lists.size() - Offset)
      return damagedExecutions();
    if (Superblocks.front() <= G.Last) {
      G.Bytes = Lists.slice(Offset, Size);
      if (Error E = visitGroup(G, Superblocks, Visit))
        return E;
    }
    Offset += Size;
  }
  return Error::success();
}

} // namespace chronicle::pieces
