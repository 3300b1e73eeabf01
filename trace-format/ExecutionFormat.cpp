// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/ExecutionFormat.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;

namespace chronicle {

ByteWriter ExecutionsWriter::take(BlockNumber End) {
  ByteWriter Out;
  if (End == Start)
    return Out;
  llvm::sort(Touched);
  Out.v(Start);
  Out.v(End - Start);
  uint32_t Id = 0;
  for (uint32_t Superblock : Touched) {
    List &L = Lists[Superblock];
    close(L);
    Out.v(Superblock - Id);
    Id = Superblock;
    uint32_t Count = 0;
    for (uint32_t N = L.Head; N != None; N = Closed[N].Next)
      ++Count;
    Out.v(Count);
    uint32_t At = Start;
    for (uint32_t N = L.Head; N != None; N = Closed[N].Next) {
      Out.v(Closed[N].First - At);
      Out.v(Closed[N].End - Closed[N].First);
      At = Closed[N].End;
    }
    L.Head = L.Tail = None;
  }
  Closed.clear();
  Touched.clear();
  Start = uint32_t(End);
  return Out;
}

ArrayRef<ExecutionRun> ExecutionRange::of(uint32_t Superblock) const {
  auto First = llvm::partition_point(
      Runs, [&](const ExecutionRun &R) { return R.Superblock < Superblock; });
  auto Last = std::find_if(First, Runs.end(), [&](const ExecutionRun &R) {
    return R.Superblock != Superblock;
  });
  return ArrayRef(Runs).slice(First - Runs.begin(), Last - First);
}

Expected<ExecutionRange> decodeExecutions(ArrayRef<uint8_t> Bytes) {
  auto Damaged = [] { return createStringError("damaged executions"); };
  ExecutionRange Result;
  ByteReader R(Bytes);
  Result.First = R.v();
  uint64_t Blocks = R.v();
  uint64_t End = Result.First + Blocks;
  if (R.failed() || !Blocks || End > UINT32_MAX || End < Blocks)
    return Damaged();
  Result.Last = End - 1;
  uint64_t Id = 0;
  while (!R.atEnd()) {
    uint64_t Step = R.v();
    Id += Step;
    uint64_t At = Result.First;
    for (uint64_t N = R.v(); N; --N) {
      uint64_t Gap = R.v(), Length = R.v();
      if (R.failed() || !Step || Id > UINT32_MAX || !Length || Gap > End - At ||
          Length > End - At - Gap)
        return Damaged();
      Result.Runs.push_back(
          {uint32_t(Id), uint32_t(At + Gap), uint32_t(At + Gap + Length - 1)});
      At += Gap + Length;
    }
    if (R.failed())
      return Damaged();
  }
  return Result;
}

} // namespace chronicle
