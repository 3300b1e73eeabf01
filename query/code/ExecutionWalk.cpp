// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/code/ExecutionWalk.h"
#include "trace-format/events/Events.h"
#include "trace-format/pieces/ProgramFormat.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::code {

Error ExecutionWalk::addFacts(Item &I) const {
  Expected<const CodeFacts *> Facts = Code.facts(I.Superblock);
  if (!Facts)
    return Facts.takeError();
  I.Facts = *Facts;
  I.Ordinal = I.Exit - Trace.definition(I.Superblock).FirstExit + 1;
  return Error::success();
}

Expected<bool> ExecutionWalk::next(Item &I) {
  for (; NextEvent < B.Events.size() && B.Events[NextEvent].Execution <= Index;
       ++NextEvent) {
    const Event &E = B.Events[NextEvent];
    if (auto Resume = E.as<events::ResumeEvent>())
      Thread = Resume->thread;
    if (OnEvent)
      OnEvent(E, Time);
  }
  if (Index == B.Symbols.size())
    return false;
  I.Index = Index;
  I.Time = Time;
  I.Thread = Thread;
  I.Exit = B.Symbols[Index];
  I.Superblock = Trace.superblockOfExit(I.Exit);
  if (LLVM_LIKELY(I.Exit < Passed.size() &&
                  Passed[I.Exit] != pieces::StoredPrograms::ManyPassed)) {
    I.Passed = Passed[I.Exit];
  } else {
    Expected<uint32_t> ByFacts = Code.passedByFacts(I.Exit);
    if (!ByFacts)
      return ByFacts.takeError();
    I.Passed = *ByFacts;
  }
  I.Faults = false;
  if (NextEvent < B.Events.size()) {
    const Event &E = B.Events[NextEvent];
    if (auto Fault = E.as<events::FaultEvent>();
        Fault && E.Execution == Index + 1) {
      if (Error Failed = addFacts(I))
        return Failed;
      int At = I.Facts->instructionAt(Fault->rip);
      if (At < 0)
        return createStringError(formatv(
            "block {0} has a fault where there is no instruction", B.Number));
      I.Faults = true;
      I.Passed = uint32_t(At);
    }
  }
  ++Index;
  Time += I.Passed;
  return true;
}

} // namespace chronicle::code
