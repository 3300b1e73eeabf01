// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/calls/LastInstruction.h"
#include "query/code/ExecutionWalk.h"

using namespace llvm;

namespace chronicle::calls {

Expected<std::optional<answers::Execution>>
lastInstruction(state::StateCache &States, const code::CodeTable &Code,
                uint32_t Thread, Timestamp T) {
  for (std::optional<BlockNumber> N = States.reader().blockAt(T); N;
       N = States.threads().previousBlock(Thread, *N)) {
    Expected<std::shared_ptr<const Block>> B = States.block(*N);
    if (!B)
      return B.takeError();
    code::ExecutionWalk Walk(Code, States.reader(), **B);
    code::ExecutionWalk::Item I;
    std::optional<code::ExecutionWalk::Item> Last;
    while (true) {
      Expected<bool> More = Walk.next(I);
      if (!More)
        return More.takeError();
      if (!*More || I.Time >= T)
        break;
      if (I.Thread == Thread && I.Passed)
        Last = I;
    }
    if (!Last)
      continue;
    if (Error E = Walk.addFacts(*Last))
      return E;
    const auto Passed =
        uint32_t(std::min<Timestamp>(Last->Passed, T - Last->Time));
    return answers::Execution{Last->Time + Passed - 1, Thread,
                              Last->Facts->address(Passed - 1)};
  }
  return std::nullopt;
}

Expected<bool> executesNext(state::StateCache &States,
                            const code::CodeTable &Code, uint32_t Thread,
                            Timestamp T, uint64_t Pc) {
  Expected<std::shared_ptr<const Block>> B =
      States.block(States.reader().blockAt(T));
  if (!B)
    return B.takeError();
  code::ExecutionWalk Walk(Code, States.reader(), **B);
  code::ExecutionWalk::Item I;
  while (true) {
    Expected<bool> More = Walk.next(I);
    if (!More)
      return More.takeError();
    if (!*More)
      return false;
    if (I.Thread != Thread || I.Time + I.Passed <= T)
      continue;
    if (Error E = Walk.addFacts(I))
      return E;
    return I.Facts->address(I.Time < T ? uint32_t(T - I.Time) : 0) == Pc;
  }
}

} // namespace chronicle::calls
