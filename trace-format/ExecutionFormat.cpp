// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/ExecutionFormat.h"
#include "llvm/ADT/STLExtras.h"
#include <tuple>

using namespace llvm;

namespace chronicle {

ByteWriter ExecutionsWriter::take(BlockNumber End) {
  ByteWriter Out;
  if (End == Start)
    return Out;
  for (uint32_t Id : Touched)
    Runs.push_back({Id, Open[Id].First, Open[Id].End - 1});
  llvm::sort(Runs, [](const ExecutionRun &A, const ExecutionRun &B) {
    return std::tie(A.Superblock, A.First) < std::tie(B.Superblock, B.First);
  });
  Out.v(Start);
  Out.v(End - Start);
  uint32_t Id = 0;
  for (auto It = Runs.begin(); It != Runs.end();) {
    auto Next = std::find_if(It, Runs.end(), [&](const ExecutionRun &R) {
      return R.Superblock != It->Superblock;
    });
    Out.v(It->Superblock - Id);
    Id = It->Superblock;
    Out.v(uint64_t(Next - It));
    for (uint32_t At = Start; It != Next; ++It) {
      Out.v(It->First - At);
      Out.v(It->Last + 1 - It->First);
      At = It->Last + 1;
    }
  }
  Runs.clear();
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
