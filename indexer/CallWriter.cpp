// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "indexer/CallWriter.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::indexer {

ByteWriter CallWriter::endBlock(model::CallFollower &Calls,
                                DatabaseBuilder &Database, SuperblockOf Of) {
  ByteWriter Out;
  auto Write = [&](uint32_t Parent, const model::CallStackRecord &,
                   const pieces::CallRecord &Call) {
    pieces::CallRecord Written = Call;
    Written.CallSuperblock = Of(Call.CallSuperblock);
    Written.Callee = Of(Call.Callee);
    return Database.addActivation(Parent, Written);
  };
  for (uint32_t Thread : Calls.takeChanged()) {
    model::CallTracker &T = *Calls.thread(Thread);
    pieces::ThreadStacks Stacks;
    Stacks.Thread = Thread;
    llvm::append_range(Stacks.Signals, Calls.signalsOf(Thread));
    for (model::CallStackRecord &S : T.stacks()) {
      bool Current = &S == &T.current();
      Stacks.Stacks.push_back({T.number(S, Write),
                               Current ? T.stackPointer() : S.StackPointer,
                               S.Top, S.Id, S.Interrupted});
    }
    pieces::encodeStacks(Out, Stacks);
  }
  return Out;
}

} // namespace chronicle::indexer
