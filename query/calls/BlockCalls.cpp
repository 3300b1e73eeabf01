// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/calls/BlockCalls.h"
#include "query/calls/BlockCallsBuilder.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::calls {

Expected<std::unique_ptr<BlockCalls>>
BlockCalls::create(state::StateCache &States, const code::CodeTable &Code,
                   BlockNumber N, Timestamp Until) {
  Expected<state::StateCursor> Cursor = States.atBlock(N);
  if (!Cursor)
    return Cursor.takeError();
  auto Result = std::make_unique<BlockCalls>();
  Result->Until = Until;
  if (Error E =
          BlockCallsBuilder(States, Code, std::move(*Cursor), *Result).run())
    return E;
  Result->Nodes.shrink_to_fit();
  return Result;
}

uint32_t BlockCalls::at(uint32_t Thread, Timestamp T) const {
  auto Line = Timelines.find(Thread);
  if (Line == Timelines.end())
    return None;
  auto It = llvm::partition_point(Line->second,
                                  [&](const Change &C) { return C.Time <= T; });
  return It == Line->second.begin() ? None : std::prev(It)->Node;
}

std::optional<answers::TimeRange>
BlockCalls::stretchBefore(uint32_t Thread, uint32_t Node, Timestamp T) const {
  auto Line = Timelines.find(Thread);
  if (Line == Timelines.end())
    return std::nullopt;
  auto It = llvm::partition_point(Line->second,
                                  [&](const Change &C) { return C.Time < T; });
  for (Timestamp End = T; It != Line->second.begin(); End = It->Time) {
    --It;
    if (It->Node == Node && It->Time < End)
      return answers::TimeRange{It->Time, End - 1};
  }
  return std::nullopt;
}

uint32_t BlockCalls::find(uint32_t Number) const {
  auto It = ByNumber.find(Number);
  return It == ByNumber.end() ? None : It->second;
}

uint64_t BlockCalls::bytes() const {
  uint64_t Sum = sizeof(*this) + Nodes.capacity() * sizeof(Node) +
                 ByNumber.getMemorySize() + Timelines.getMemorySize();
  for (auto &[Thread, Line] : Timelines)
    Sum += Line.capacity() * sizeof(Change);
  return Sum;
}

} // namespace chronicle::calls
