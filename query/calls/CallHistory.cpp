// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/calls/CallHistory.h"
#include "query/calls/LastInstruction.h"
#include "query/calls/StackWalk.h"
#include "query/state/Moment.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::calls {

static constexpr uint32_t None = BlockCalls::None;

/// The calls of block N, at least up to Until.
Expected<std::shared_ptr<const BlockCalls>>
CallHistory::block(BlockNumber N, Timestamp Until) {
  auto IsIt = [&](const Entry &E) { return E.Block == N; };
  {
    std::lock_guard<std::mutex> Guard(Lock);
    auto It = llvm::find_if(Recent, IsIt);
    if (It != Recent.end()) {
      Recent.splice(Recent.begin(), Recent, It);
      if (It->Calls->until() >= Until)
        return It->Calls;
      Until = BlockCalls::Never;
    }
  }
  Expected<std::unique_ptr<BlockCalls>> Made =
      BlockCalls::create(States, Code, N, Until);
  if (!Made)
    return Made.takeError();
  std::shared_ptr<const BlockCalls> Calls = std::move(*Made);
  std::lock_guard<std::mutex> Guard(Lock);
  if (auto It = llvm::find_if(Recent, IsIt); It != Recent.end()) {
    Bytes -= It->Calls->bytes();
    Recent.erase(It);
  }
  Recent.push_front({N, Calls});
  Bytes += Calls->bytes();
  while (Bytes > Budget && Recent.size() > 1) {
    Bytes -= Recent.back().Calls->bytes();
    Recent.pop_back();
  }
  return Calls;
}

/// The innermost activation of the thread at T. Its node is None if the thread
/// has not run yet.
Expected<CallHistory::Place>
CallHistory::innermost(uint32_t Thread, Timestamp T, Timestamp Until) {
  BlockNumber N = States.reader().blockAt(T);
  Expected<std::shared_ptr<const BlockCalls>> Calls = block(N, Until);
  if (!Calls)
    return Calls.takeError();
  if (!(*Calls)->has(Thread)) {
    std::optional<BlockNumber> Earlier =
        States.threads().previousBlock(Thread, N);
    if (!Earlier)
      return Place{N, *Calls, None};
    N = *Earlier;
    Calls = block(N);
    if (!Calls)
      return Calls.takeError();
  }
  return Place{N, *Calls, (*Calls)->at(Thread, T)};
}

/// The innermost activation, for a question about the stack only. What the
/// block does after T does not matter then, unless a call was just made: its
/// callee is known only from its first superblock.
Expected<CallHistory::Place> CallHistory::stackPlace(uint32_t Thread,
                                                     Timestamp T) {
  Expected<Place> P = innermost(Thread, T, T);
  if (!P || P->Node == None)
    return P;
  // The activations around one from an earlier block are from there too.
  for (uint32_t At = P->Node; At != None && P->Calls->node(At).Created;
       At = P->Calls->node(At).Parent)
    if (!P->Calls->node(At).Call.Callee)
      return innermost(Thread, T);
  return P;
}

/// If a block ended between the call and the callee's first instruction,
/// completes the record from the block in which that instruction ran.
Error CallHistory::enter(pieces::CallRecord &Call, uint32_t Thread) {
  if (Call.Callee || !Call.Node)
    return Error::success();
  BlockNumber From = States.reader().blockAt(Call.Entry);
  while (std::optional<BlockNumber> N =
             States.threads().nextBlock(Thread, From)) {
    Expected<std::shared_ptr<const BlockCalls>> Calls = block(*N);
    if (!Calls)
      return Calls.takeError();
    uint32_t Found = (*Calls)->find(Call.Node);
    // The block of the call does not know the number if the call also ended
    // there.
    if (Found != None) {
      const BlockCalls::Node &Node = (*Calls)->node(Found);
      if (Node.Call.Callee) {
        Call = Node.Call;
        return Error::success();
      }
      if (Node.End != BlockCalls::Never)
        return Error::success();
    }
    From = *N + 1;
  }
  return Error::success();
}

Expected<answers::Activation> CallHistory::describe(const BlockCalls::Node &N) {
  pieces::CallRecord Call = N.Call;
  if (Error E = enter(Call, N.Thread))
    return E;
  answers::Activation A;
  A.Entry = Call.Entry;
  A.StackPointer = N.isFirst() ? N.Extra : Call.Slot;
  A.Thread = N.Thread;
  A.Signal = Call.Signal;
  if (Call.CallSuperblock) {
    Expected<const code::CodeFacts *> F = Code.facts(Call.CallSuperblock);
    if (!F)
      return F.takeError();
    A.CallSite = (*F)->lastAddress();
    A.Return = (*F)->endAddress();
  }
  if (Call.Callee) {
    Expected<const code::CodeFacts *> F = Code.facts(Call.Callee);
    if (!F)
      return F.takeError();
    A.Callee = A.Pc = (*F)->address(0);
  }
  return A;
}

/// The pc of the code that a handler interrupted; nothing: not known.
Expected<std::optional<uint64_t>>
CallHistory::interruptedPc(const BlockCalls::Node &N) {
  if (N.Interrupts)
    return N.Extra;
  if (!N.Call.Node)
    return std::nullopt;
  // Entered in an earlier block.
  pieces::CallRecord Call = N.Call;
  if (Error E = enter(Call, N.Thread))
    return E;
  BlockNumber At = States.reader().blockAt(Call.Entry);
  for (BlockNumber Back = 0; Back < 2 && Back <= At; ++Back) {
    Expected<std::shared_ptr<const BlockCalls>> Calls = block(At - Back);
    if (!Calls)
      return Calls.takeError();
    uint32_t Found = (*Calls)->find(Call.Node);
    if (Found == None)
      Found = (*Calls)->at(N.Thread, Call.Entry);
    for (; Found != None; Found = (*Calls)->node(Found).Parent) {
      const BlockCalls::Node &There = (*Calls)->node(Found);
      if (There.Call.Signal && There.Call.Slot == Call.Slot && There.Interrupts)
        return There.Extra;
    }
  }
  return std::nullopt;
}

/// If no instruction can be fetched from Pc, where the thread is about to go on
/// at T, adds that place and the whole stack of the code that jumped there. The
/// activation that jumped may be over by the stack pointer: a return does that.
Expected<bool> CallHistory::addJump(uint64_t Pc, uint32_t Thread, Timestamp T,
                                    size_t Most,
                                    std::vector<answers::Activation> &Result) {
  if (States.maps().isExecutable(Pc, T))
    return false;
  // The functions of the vsyscall page run in code that no mapping shows.
  Expected<bool> Executes = executesNext(States, Code, Thread, T, Pc);
  if (!Executes)
    return Executes.takeError();
  if (*Executes)
    return false;
  Expected<std::optional<answers::Execution>> Jump =
      lastInstruction(States, Code, Thread, T);
  if (!Jump)
    return Jump.takeError();
  if (!*Jump)
    return false;
  Expected<answers::Registers> Before =
      state::Moment(States, (*Jump)->Time).registers(Thread);
  if (!Before)
    return Before.takeError();
  Expected<std::vector<answers::Activation>> Outer =
      stackAt(Thread, (*Jump)->Time, Most - 1);
  if (!Outer)
    return Outer.takeError();
  answers::Activation There;
  There.Entry = T;
  There.CallSite = (*Jump)->Pc;
  There.Callee = There.Pc = Pc;
  There.StackPointer = Before->rsp() - 8;
  There.Thread = Thread;
  There.Jumped = (*Jump)->Time;
  Result.push_back(There);
  Result.insert(Result.end(), Outer->begin(), Outer->end());
  return true;
}

Expected<std::vector<answers::Activation>>
CallHistory::stackAt(uint32_t Thread, Timestamp T, size_t Most) {
  const answers::ThreadInfo *Info = States.threads().find(Thread);
  if (!Info)
    return createStringError(formatv("there is no thread {0}", Thread));
  if (T > States.reader().instructions())
    return createStringError(
        formatv("the run ends at {0}; there is no moment {1}",
                States.reader().instructions(), T));
  if (T < Info->Started || (Info->Exited && T > *Info->Exited))
    return createStringError(
        formatv("thread {0} does not exist at {1}", Thread, T));
  Expected<Place> P = stackPlace(Thread, T);
  if (!P)
    return P.takeError();
  std::vector<answers::Activation> Result;
  if (P->Node == None)
    return Result;
  std::optional<uint64_t> Pc =
      P->Calls->until() == T ? P->Calls->pcAtEnd(Thread) : std::nullopt;
  if (!Pc) {
    Expected<answers::Registers> R = state::Moment(States, T).registers(Thread);
    if (!R)
      return R.takeError();
    Pc = R->rip();
  }
  // Until when the activation ran: to T, or until a signal interrupted it. One
  // that made a call is where it called.
  Timestamp Until = T;
  bool Called = false;
  StackWalk Walk(States, P->Calls, P->Node);
  for (; Walk.node() && Result.size() < Most;) {
    const BlockCalls::Node N = *Walk.node();
    if (Error E = Walk.outward())
      return E;
    if (N.Hidden)
      continue;
    Expected<answers::Activation> A = describe(N);
    if (!A)
      return A.takeError();
    if (Pc)
      A->Pc = *Pc;
    if (!Called && Pc && A->Callee) {
      Expected<bool> Jumped =
          addJump(*Pc, Thread, Until, Most - Result.size(), Result);
      if (!Jumped)
        return Jumped.takeError();
      if (*Jumped)
        return Result;
    } else if (!Called && Pc) {
      A->Callee = *Pc; // called, but its first instruction did not run
    }
    Pc.reset();
    Called = !A->Signal;
    if (A->CallSite)
      Pc = A->CallSite;
    if (A->Signal) {
      Expected<std::optional<uint64_t>> Interrupted = interruptedPc(N);
      if (!Interrupted)
        return Interrupted.takeError();
      Pc = *Interrupted;
      Until = A->Entry;
    }
    Result.push_back(*A);
  }
  return Result;
}

/// The node of activation A among Inner and its callers, or None.
static uint32_t ancestor(const BlockCalls &Calls, uint32_t Inner,
                         const answers::Activation &A) {
  for (; Inner != None; Inner = Calls.node(Inner).Parent) {
    const BlockCalls::Node &N = Calls.node(Inner);
    if (!N.Hidden && N.Call.Entry == A.Entry && N.Call.Signal == A.Signal &&
        (N.isFirst() || N.Call.Slot == A.StackPointer))
      break;
  }
  return Inner;
}

Expected<CallHistory::Place> CallHistory::find(const answers::Activation &A) {
  Expected<Place> P = innermost(A.Thread, A.Entry);
  if (!P)
    return P.takeError();
  P->Node = ancestor(*P->Calls, P->Node, A);
  if (P->Node != None)
    return P;
  return createStringError(formatv(
      "thread {0} has no call that begins at {1} with the stack pointer "
      "{2:x}",
      A.Thread, A.Entry, A.StackPointer));
}

/// Whether activation Number is alive at the end of block N. None if it is not;
/// otherwise the activation that it called, or itself if it is the innermost.
Expected<uint32_t> CallHistory::aliveAtEnd(uint32_t Number, uint32_t Thread,
                                           BlockNumber N) {
  auto Stacks = States.pieces().stacks(N);
  if (!Stacks)
    return Stacks.takeError();
  uint32_t Best = None;
  for (const pieces::ThreadStacks &T : **Stacks) {
    if (T.Thread != Thread)
      continue;
    for (const pieces::ThreadStacks::Stack &S : T.Stacks) {
      uint32_t Inner = Number;
      // Outer activations have smaller numbers.
      for (uint32_t At = S.Activation; At >= Number;) {
        if (At == Number) {
          // Prefers its own stack to one that a signal put on top.
          if (Best == None || Inner < Best)
            Best = Inner;
          break;
        }
        Expected<pieces::ActivationRecord> A = States.pieces().activation(At);
        if (!A)
          return A.takeError();
        Inner = At;
        At = A->Parent;
      }
    }
  }
  return Best;
}

/// The first block of the thread after After at whose end the activation is not
/// alive; nothing: there is none. It must be alive at the end of After.
Expected<std::optional<BlockNumber>>
CallHistory::lastBlock(uint32_t Number, uint32_t Thread, BlockNumber After) {
  const pieces::ThreadBlocks Of = States.reader().blocksOf(Thread);
  size_t Alive = Of.countBelow(After + 1); // it is in those before
  auto IsAlive = [&](size_t I) -> Expected<bool> {
    Expected<uint32_t> Inner = aliveAtEnd(Number, Thread, Of[I]);
    if (!Inner)
      return Inner.takeError();
    return *Inner != None;
  };
  // Most calls are short.
  size_t Dead = Of.size();
  for (size_t Step = 1; Alive < Dead; Step *= 2) {
    size_t Probe = std::min(Alive + Step - 1, Dead - 1);
    Expected<bool> Lives = IsAlive(Probe);
    if (!Lives)
      return Lives.takeError();
    if (!*Lives) {
      Dead = Probe;
      break;
    }
    Alive = Probe + 1;
  }
  if (Dead == Of.size())
    return std::nullopt;
  while (Alive < Dead) {
    size_t Middle = (Alive + Dead) / 2;
    Expected<bool> Lives = IsAlive(Middle);
    if (!Lives)
      return Lives.takeError();
    if (*Lives)
      Alive = Middle + 1;
    else
      Dead = Middle;
  }
  return Of[Dead];
}

Expected<std::optional<Timestamp>>
CallHistory::returnOf(const answers::Activation &A) {
  if (A.Jumped)
    return std::nullopt;
  Expected<Place> P = find(A);
  if (!P)
    return P.takeError();
  if (P->node().End != BlockCalls::Never)
    return P->node().End;
  uint32_t Number = P->node().Call.Node;
  if (!Number || P->node().isFirst())
    return std::nullopt;
  Expected<std::optional<BlockNumber>> Last =
      lastBlock(Number, A.Thread, P->Block);
  if (!Last)
    return Last.takeError();
  if (!*Last)
    return std::nullopt;
  Expected<std::shared_ptr<const BlockCalls>> Calls = block(**Last);
  if (!Calls)
    return Calls.takeError();
  uint32_t Found = (*Calls)->find(Number);
  if (Found == None || (*Calls)->node(Found).End == BlockCalls::Never)
    return std::nullopt;
  return (*Calls)->node(Found).End;
}

Expected<std::optional<answers::TimeRange>>
CallHistory::stretchBefore(const answers::Activation &A, Timestamp T) {
  if (!T)
    return std::nullopt;
  BlockNumber N = States.reader().blockAt(T - 1);
  Expected<std::shared_ptr<const BlockCalls>> Calls = block(N);
  if (!Calls)
    return Calls.takeError();
  uint32_t Node = ancestor(**Calls, (*Calls)->at(A.Thread, T - 1), A);
  if (Node == None)
    return std::nullopt;
  std::optional<answers::TimeRange> Found =
      (*Calls)->stretchBefore(A.Thread, Node, T);
  if (Found)
    Found->First = std::max(Found->First, States.reader().blocks()[N].First);
  return Found;
}

Error CallHistory::callees(
    const answers::Activation &A,
    function_ref<bool(const answers::Activation &)> Visit,
    const answers::Cancellation *Cancel, Timestamp From) {
  if (A.Jumped)
    return Error::success();
  Expected<Place> P = find(A);
  if (!P)
    return P.takeError();
  // The blocks before that of From are not looked at.
  const BlockNumber First = States.reader().blockAt(From);
  while (!Cancel || !Cancel->Cancelled) {
    for (uint32_t I = 0; I < P->Calls->size() && P->Block >= First; ++I) {
      const BlockCalls::Node &N = P->Calls->node(I);
      if (N.Parent != P->Node || !N.Created || N.Call.Signal || N.isFirst())
        continue;
      Expected<answers::Activation> Callee = describe(N);
      if (!Callee)
        return Callee.takeError();
      // Callee 0: the run ended before its first instruction.
      if (Callee->Callee && Callee->Entry >= From && !Visit(*Callee))
        return Error::success();
    }
    uint32_t Number = P->node().Call.Node;
    if (P->node().End != BlockCalls::Never || !Number)
      return Error::success();
    P->Block = std::max(P->Block, First ? First - 1 : 0);
    // Goes on to the next block in which it runs itself.
    Expected<uint32_t> Inner = aliveAtEnd(Number, A.Thread, P->Block);
    if (!Inner)
      return Inner.takeError();
    std::optional<BlockNumber> Next;
    if (*Inner == None || *Inner == Number) {
      Next = States.threads().nextBlock(A.Thread, P->Block + 1);
    } else {
      Expected<std::optional<BlockNumber>> Last =
          lastBlock(*Inner, A.Thread, P->Block);
      if (!Last)
        return Last.takeError();
      Next = *Last;
    }
    if (!Next)
      return Error::success();
    Expected<std::shared_ptr<const BlockCalls>> Calls = block(*Next);
    if (!Calls)
      return Calls.takeError();
    P->Block = *Next;
    P->Calls = *Calls;
    P->Node = (*Calls)->find(Number);
    if (P->Node == None)
      return Error::success();
  }
  return Error::success();
}

} // namespace chronicle::calls
