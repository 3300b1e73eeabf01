// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "indexer/CallWriter.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle {

/// Numbers the activations of a stack that have none yet: those at its inner
/// end. Returns the innermost one's.
uint32_t CallWriter::number(MutableArrayRef<CallStackRecord> Stacks,
                            CallStackRecord &Stack, DatabaseBuilder &Database,
                            SuperblockOf Of) {
  size_t Known = Stack.Calls.size();
  while (Known && !Stack.Calls[Known - 1].Node)
    --Known;
  uint32_t Parent = 0;
  if (Known) {
    Parent = Stack.Calls[Known - 1].Node;
  } else if (Stack.Interrupted) {
    // It is older, so that this comes to an end.
    auto It = llvm::find_if(Stacks, [&](const CallStackRecord &S) {
      return S.Id == Stack.Interrupted;
    });
    if (It != Stacks.end())
      Parent = number(Stacks, *It, Database, Of);
  }
  for (CallRecord &Call : MutableArrayRef(Stack.Calls).drop_front(Known)) {
    CallRecord Written = Call;
    Written.CallSuperblock = Of(Call.CallSuperblock);
    Written.Callee = Of(Call.Callee);
    Parent = Call.Node = Database.addActivation(Parent, Written);
  }
  return Parent;
}

ByteWriter CallWriter::endBlock(CallFollower &Calls, DatabaseBuilder &Database,
                                SuperblockOf Of) {
  ByteWriter Out;
  for (uint32_t Thread : Calls.takeChanged()) {
    CallTracker &T = *Calls.thread(Thread);
    ThreadStacks Stacks;
    Stacks.Thread = Thread;
    llvm::append_range(Stacks.Signals, Calls.signalsOf(Thread));
    for (CallStackRecord &S : T.stacks()) {
      bool Current = &S == &T.current();
      Stacks.Stacks.push_back({number(T.stacks(), S, Database, Of),
                               Current ? T.stackPointer() : S.StackPointer,
                               S.Top, S.Id, S.Interrupted});
    }
    encodeStacks(Out, Stacks);
  }
  return Out;
}

} // namespace chronicle
