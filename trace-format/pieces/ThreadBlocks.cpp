// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/pieces/ThreadBlocks.h"
#include "llvm/ADT/STLExtras.h"
#include <tuple>

using namespace llvm;

namespace chronicle::pieces {

ThreadBlocks::ThreadBlocks(ArrayRef<ThreadStretch> All, uint32_t Thread) {
  auto First = partition_point(
      All, [&](const ThreadStretch &S) { return S.Thread < Thread; });
  auto End =
      std::partition_point(First, All.end(), [&](const ThreadStretch &S) {
        return S.Thread == Thread;
      });
  Stretches = ArrayRef(First, End);
}

BlockNumber ThreadBlocks::operator[](size_t Index) const {
  assert(Index < size());
  auto It = std::prev(partition_point(
      Stretches, [&](const ThreadStretch &S) { return S.Before <= Index; }));
  return It->First + (Index - It->Before);
}

size_t ThreadBlocks::countBelow(BlockNumber N) const {
  auto It = partition_point(Stretches,
                            [&](const ThreadStretch &S) { return S.Last < N; });
  if (It == Stretches.end())
    return size();
  return It->Before + (N > It->First ? N - It->First : 0);
}

void ThreadBlocksWriter::add(BlockNumber N, ArrayRef<uint32_t> Threads) {
  const auto Block = static_cast<uint32_t>(N);
  for (uint32_t Thread : Threads) {
    auto [It, New] = Last.try_emplace(Thread, Stretches.size());
    if (!New && Stretches[It->second].Last + 1 == Block) {
      Stretches[It->second].Last = Block;
      continue;
    }
    It->second = Stretches.size();
    Stretches.push_back({Thread, Block, Block, 0});
  }
}

std::vector<ThreadStretch> ThreadBlocksWriter::table(BlockNumber End) const {
  std::vector<ThreadStretch> Table;
  for (ThreadStretch S : Stretches) {
    if (S.First >= End)
      break;
    S.Last = static_cast<uint32_t>(std::min<BlockNumber>(S.Last, End - 1));
    Table.push_back(S);
  }
  llvm::sort(Table, [](const ThreadStretch &A, const ThreadStretch &B) {
    return std::tie(A.Thread, A.First) < std::tie(B.Thread, B.First);
  });
  for (size_t I = 1; I < Table.size(); ++I)
    if (const ThreadStretch &P = Table[I - 1]; P.Thread == Table[I].Thread)
      Table[I].Before = P.Before + (P.Last - P.First + 1);
  return Table;
}

} // namespace chronicle::pieces
