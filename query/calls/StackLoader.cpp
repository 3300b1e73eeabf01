// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/calls/StackLoader.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::calls {

/// Nearly all stacks are loaded as a whole by this.
static constexpr size_t FirstCount = 256;

/// The record at the outer end. It keeps the node of the outermost call that is
/// loaded, and how many are.
pieces::CallRecord StackLoader::outerEnd(uint32_t Node, size_t Loaded) {
  return {Loaded, pieces::NeverEnds, Node, EnteredEarlier, 0, false};
}

/// Adds up to Count calls at the outer end of a stack, from the one with this
/// number in the file outward. Inner is the node of the call inside of them.
Error StackLoader::append(uint32_t Thread, model::CallStackRecord &Stack,
                          uint32_t Inner, uint32_t Number, size_t Count) {
  SmallVector<pieces::CallRecord, 0> Outer; // inner ones first
  bool First = false;
  while (Number && !First && Outer.size() < Count) {
    Expected<pieces::ActivationRecord> A = States.pieces().activation(Number);
    if (!A)
      return A.takeError();
    Outer.push_back(A->Call);
    First = A->isFirstOfStack();
    Number = A->Parent;
  }
  if (!First && !Number)
    return createStringError("the call stacks of the trace are damaged");

  for (pieces::CallRecord &Call : Outer) {
    const uint32_t Index = Result.size();
    BlockCalls::Node &N = Result.Nodes.emplace_back();
    N.Call = Call;
    N.Thread = Thread;
    Result.ByNumber[Call.Node] = Index;
    Call.Node = Index + 1;
    if (Inner != BlockCalls::None) {
      BlockCalls::Node &Callee = Result.Nodes[Inner];
      Callee.Parent = Index;
      Callee.Outer = 0;
      // The record was written before the callee's first superblock ran. That
      // has run since, unless a signal came first, so the call must not be
      // taken for new.
      if (!Call.Callee &&
          (!Callee.Call.Signal || Callee.Call.Entry != Call.Entry))
        Call.Callee = EnteredEarlier;
    }
    Inner = Index;
  }
  BlockCalls::Node &Last = Result.Nodes[Inner];
  Last.Extra = Stack.Top;
  if (First) {
    Last.Hidden = Stack.Interrupted;
    // The first call on a signal stack is inside what the signal interrupted.
    Last.Parent = Result.find(Number);
  } else {
    Last.Outer = Number;
    Outer.push_back(outerEnd(Inner, Count));
  }
  std::reverse(Outer.begin(), Outer.end());
  Outer.append(Stack.Calls.begin(), Stack.Calls.end());
  Stack.Calls = std::move(Outer);
  return Error::success();
}

Expected<model::CallTracker> StackLoader::load(const pieces::ThreadStacks &T) {
  std::vector<model::CallStackRecord> Stacks(T.Stacks.size());
  // A signal stack refers to the stack that it interrupted, which is older.
  std::vector<size_t> Order(Stacks.size());
  for (size_t I = 0; I < Order.size(); ++I)
    Order[I] = I;
  llvm::sort(Order, [&](size_t A, size_t B) {
    return T.Stacks[A].Id < T.Stacks[B].Id;
  });
  for (size_t I : Order) {
    const pieces::ThreadStacks::Stack &From = T.Stacks[I];
    Stacks[I].StackPointer = From.StackPointer;
    Stacks[I].Top = From.Top;
    Stacks[I].Id = From.Id;
    Stacks[I].Interrupted = From.Interrupted;
    if (Error E = append(T.Thread, Stacks[I], BlockCalls::None, From.Activation,
                         FirstCount))
      return E;
  }
  return model::CallTracker(std::move(Stacks));
}

Error StackLoader::loadMore(uint32_t Thread, model::CallTracker &Calls) {
  do {
    model::CallStackRecord &Stack = Calls.current();
    const pieces::CallRecord End = Stack.Calls.front();
    const uint32_t Inner = End.CallSuperblock;
    Stack.Calls.erase(Stack.Calls.begin());
    if (Error E = append(Thread, Stack, Inner, Result.Nodes[Inner].Outer,
                         2 * size_t(End.Entry)))
      return E;
    Calls.settle();
  } while (needsMore(Calls));
  return Error::success();
}

} // namespace chronicle::calls
