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

static Error damaged() { return createStringError("damaged executions"); }

Expected<ExecutionRange> ExecutionRange::create(ArrayRef<uint8_t> Bytes) {
  ByteReader R(Bytes);
  ExecutionRange Result;
  Result.First = R.v();
  uint64_t Blocks = R.v();
  uint64_t End = Result.First + Blocks;
  if (R.failed() || !Blocks || End > UINT32_MAX || End < Blocks)
    return damaged();
  Result.Last = End - 1;
  Result.Lists = Bytes.take_back(R.left());
  return Result;
}

Error ExecutionRange::visit(
    ArrayRef<uint32_t> Superblocks,
    function_ref<void(const ExecutionRun &)> Visit) const {
  const uint64_t End = Last + 1;
  ByteReader R(Lists);
  uint64_t Id = 0;
  while (!R.atEnd() && !Superblocks.empty()) {
    const uint64_t Step = R.v(), Runs = R.v();
    Id += Step;
    if (R.failed() || !Step || Id > UINT32_MAX || Runs > R.left())
      return damaged();
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
        return damaged();
      Visit(
          {uint32_t(Id), uint32_t(At + Gap), uint32_t(At + Gap + Length - 1)});
      At += Gap + Length;
    }
  }
  return R.failed() ? damaged() : Error::success();
}

} // namespace chronicle
