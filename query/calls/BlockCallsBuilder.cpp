// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/calls/BlockCallsBuilder.h"
#include "trace-format/GuestState.h"
#include "trace-format/events/Events.h"
#include "trace-format/pieces/BlockFormat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::calls {

/// The stacks that a thread had at the end of its last block before N, or null
/// if it had none.
static Expected<const pieces::ThreadStacks *>
stacksBefore(state::StateCache &States, uint32_t Thread, BlockNumber N,
             std::shared_ptr<const std::vector<pieces::ThreadStacks>> &Holder) {
  // A signal that is about to be delivered is noted in the block right before
  // N, even if the thread did not run in it.
  for (BlockNumber At = N; At;) {
    std::optional<BlockNumber> Earlier =
        At == N ? N - 1 : States.threads().previousBlock(Thread, At);
    if (!Earlier)
      return nullptr;
    At = *Earlier;
    auto Stacks = States.pieces().stacks(At);
    if (!Stacks)
      return Stacks.takeError();
    Holder = *Stacks;
    for (const pieces::ThreadStacks &T : *Holder)
      if (T.Thread == Thread)
        return &T;
  }
  return nullptr;
}

Error BlockCallsBuilder::load(uint32_t Thread) {
  std::shared_ptr<const std::vector<pieces::ThreadStacks>> Holder;
  Expected<const pieces::ThreadStacks *> T =
      stacksBefore(States, Thread, Cursor.block().Number, Holder);
  if (!T)
    return T.takeError();
  if (!*T)
    return Error::success();
  Expected<model::CallTracker> Known = Stacks.load(**T);
  if (!Known)
    return Known.takeError();
  Follower.add(Thread, std::move(*Known), (*T)->Signals);
  model::CallTracker &Calls = *Follower.thread(Thread);
  Calls.Ended = &Ended;
  note(Thread, Calls.current().Calls.back().Node - 1, 0);
  return Error::success();
}

void BlockCallsBuilder::note(uint32_t Thread, uint32_t Innermost, Timestamp T) {
  std::vector<BlockCalls::Change> &Line = Result.Timelines[Thread];
  if (Line.empty() || Line.back().Node != Innermost)
    Line.push_back({T, Innermost});
}

void BlockCallsBuilder::end(const pieces::CallRecord &Call, Timestamp T) {
  // A call that began and ended at the same moment has no node.
  if (!Call.Node)
    return;
  Node &N = Result.Nodes[Call.Node - 1];
  N.End = T;
  if (N.Parent != BlockCalls::None)
    note(N.Thread, N.Parent, T);
}

/// Makes nodes for the activations of the current stack that have none. Number
/// n is node n - 1.
void BlockCallsBuilder::number(uint32_t Thread, model::CallTracker &Calls) {
  Calls.number(Calls.current(),
               [&](uint32_t Parent, const model::CallStackRecord &Stack,
                   const pieces::CallRecord &Call) {
                 Node &N = Result.Nodes.emplace_back();
                 N.Call = Call;
                 N.Thread = Thread;
                 if (N.isFirst()) {
                   N.Extra = Stack.Top;
                   N.Hidden = Stack.Interrupted;
                 }
                 N.Parent = Parent ? Parent - 1 : BlockCalls::None;
                 N.Created = true;
                 return Result.size();
               });
}

/// Takes over what changed in the tracker.
Error BlockCallsBuilder::update(uint32_t Thread, model::CallTracker &Calls,
                                Timestamp T) {
  if (Error E = Stacks.refill(Thread, Calls))
    return E;
  for (const pieces::CallRecord &Call : Ended)
    end(Call, T);
  Ended.clear();
  number(Thread, Calls);
  note(Thread, Calls.current().Calls.back().Node - 1, T);
  return Error::success();
}

static uint64_t wordAt(const uint8_t *State, unsigned Offset) {
  return support::endian::read64le(State + Offset);
}

Error BlockCallsBuilder::event(const Event &E, Timestamp T) {
  auto Snapshot = E.as<events::SnapshotEvent>();
  auto Registers = E.as<events::RegistersEvent>();
  const bool Matters = Snapshot || Registers;
  const uint32_t Thread = Snapshot    ? Snapshot->thread
                          : Registers ? Registers->thread
                                      : 0;
  std::optional<uint64_t> Interrupted;
  if (Registers && !Follower.signalsOf(Thread).empty()) {
    if (Error Problem = Cursor.runTo(T))
      return Problem;
    if (auto It = PcBefore.find(&E); It != PcBefore.end())
      Interrupted = It->second;
  }
  Follower.event(E.Kind, E.Payload, T);
  model::CallTracker *Calls = Matters ? Follower.thread(Thread) : nullptr;
  if (!Calls)
    return Error::success();
  Calls->Ended = &Ended;
  uint32_t Before = Result.size();
  if (Error Problem = update(Thread, *Calls, T))
    return Problem;
  // The outermost of several handlers interrupted the program; the others
  // interrupted the first instruction of the one before. Only the pc of the
  // program is known.
  for (uint32_t N = Before; N < Result.size(); ++N)
    if (Result.Nodes[N].Call.Signal) {
      Result.Nodes[N].Interrupts = Interrupted.has_value();
      Result.Nodes[N].Extra = Interrupted.value_or(0);
      break;
    }
  return Error::success();
}

/// Called before an event takes effect: keeps what it changes and what will be
/// needed.
void BlockCallsBuilder::beforeEvent(const Event &E) {
  if (Wanted && !StackPointerSeen && E.Execution > Wanted->Index)
    if (const uint8_t *State = Cursor.replayer().state(Wanted->Thread))
      StackPointerSeen = wordAt(State, CH_OFFSET_RSP);
  if (auto Registers = E.as<events::RegistersEvent>())
    if (const uint8_t *State = Cursor.replayer().state(Registers->thread))
      PcBefore[&E] = wordAt(State, CH_OFFSET_RIP);
}

/// The stack pointer of the execution's thread at T, which must not be after
/// the end of the execution. At its end, it is the value before any event.
Expected<uint64_t>
BlockCallsBuilder::stackPointerAt(const code::ExecutionWalk::Item &I,
                                  Timestamp T) {
  Wanted = &I;
  StackPointerSeen.reset();
  Error E = Cursor.runTo(T);
  Wanted = nullptr;
  if (E)
    return E;
  if (StackPointerSeen)
    return *StackPointerSeen;
  const uint8_t *State = Cursor.replayer().state(I.Thread);
  if (!State)
    return createStringError("replay lost a thread");
  return wordAt(State, CH_OFFSET_RSP);
}

/// Finds the instructions at which activations ended in the middle of a
/// superblock.
Error BlockCallsBuilder::endInside(const code::ExecutionWalk::Item &I) {
  auto Left = ArrayRef(Ended);
  for (uint32_t K = 1; K < I.Passed && !Left.empty(); ++K) {
    Expected<uint64_t> StackPointer = stackPointerAt(I, I.Time + K);
    if (!StackPointer)
      return StackPointer.takeError();
    for (; !Left.empty() && Left.front().Slot < *StackPointer;
         Left = Left.drop_front())
      end(Left.front(), I.Time + K);
  }
  for (const pieces::CallRecord &Call : Left)
    end(Call, I.Time + I.Passed);
  Ended.clear();
  return Error::success();
}

Error BlockCallsBuilder::followExit(const code::ExecutionWalk::Item &I,
                                    model::CallTracker &Calls) {
  const code::CodeFacts::Exit &X = I.Facts->exit(I.Ordinal);
  const Timestamp After = I.Time + I.Passed;
  if (X.Stack.Base) {
    // If one instruction sets the stack pointer several times, only its last
    // value is seen. The last set of the superblock follows from the stack
    // pointer at the end.
    for (uint32_t K = 0; K < X.Stack.Base; ++K) {
      const code::CodeFacts::StackSet &Set = I.Facts->stackSets()[K];
      if (!Set.Elsewhere || K + 1 == X.Stack.Base ||
          I.Facts->stackSets()[K + 1].Instruction == Set.Instruction)
        continue;
      Timestamp When = I.Time + Set.Instruction + 1;
      Expected<uint64_t> To = stackPointerAt(I, When);
      if (!To)
        return To.takeError();
      Calls.set(*To, When);
      if (Error E = update(I.Thread, Calls, When))
        return E;
    }
    Expected<uint64_t> Last = stackPointerAt(I, After);
    if (!Last)
      return Last.takeError();
    const code::CodeFacts::StackSet &Set =
        I.Facts->stackSets()[X.Stack.Base - 1];
    if (Set.Elsewhere) {
      Calls.set(*Last - uint64_t(X.Stack.Delta), After);
      if (Error E = update(I.Thread, Calls, I.Time + Set.Instruction + 1))
        return E;
    }
    Calls.moved(*Last);
    return update(I.Thread, Calls, After);
  }
  uint64_t To = Calls.stackPointer() + uint64_t(X.Stack.Delta);
  Calls.moved(To);
  if (Error E = Stacks.refill(I.Thread, Calls))
    return E;
  bool Returns = X.Jump == CH_JUMP_RETURN && Ended.size() == 1 &&
                 Ended.front().Slot == To - 8;
  if (!Ended.empty() && !Returns)
    if (Error E = endInside(I))
      return E;
  return update(I.Thread, Calls, After);
}

Error BlockCallsBuilder::follow(const code::ExecutionWalk::Item &I) {
  model::CallTracker *Calls = Follower.running();
  if (!Calls)
    return Error::success();
  if (Calls->limit() == 0) {
    Calls->step(I.Superblock, I.Time);
    const pieces::CallRecord &Call = Calls->current().Calls.back();
    Node &N = Result.Nodes[Call.Node - 1];
    N.Call.Entry = Call.Entry;
    N.Call.Callee = Call.Callee;
  }
  if (I.Faults) {
    // An event brings the registers; a change of stacks before it must be
    // followed here.
    for (const code::CodeFacts::StackSet &Set : I.Facts->stackSets()) {
      Timestamp When = I.Time + Set.Instruction + 1;
      if (!Set.Elsewhere || Set.Instruction >= I.Passed)
        continue;
      Expected<uint64_t> To = stackPointerAt(I, When);
      if (!To)
        return To.takeError();
      Calls->set(*To, When);
      if (Error E = update(I.Thread, *Calls, When))
        return E;
    }
    return Error::success();
  }
  const code::CodeFacts::Exit &X = I.Facts->exit(I.Ordinal);
  if (!X.Stack.Base && X.Jump != CH_JUMP_CALL) {
    uint64_t To = Calls->stackPointer() + uint64_t(X.Stack.Delta);
    if (To <= Calls->limit()) {
      Calls->jumpTo(To);
      return Error::success();
    }
  }
  if (Error E = followExit(I, *Calls))
    return E;
  if (X.Jump == CH_JUMP_CALL) {
    Calls->call(I.Superblock, I.Time + I.Passed);
    return update(I.Thread, *Calls, I.Time + I.Passed);
  }
  return Error::success();
}

/// Gives activations that are alive at the end the numbers that they have in
/// the file.
Error BlockCallsBuilder::numberAtEnd() {
  auto Stacks = States.pieces().stacks(Cursor.block().Number);
  if (!Stacks)
    return Stacks.takeError();
  for (const pieces::ThreadStacks &T : **Stacks) {
    model::CallTracker *Calls = Follower.thread(T.Thread);
    if (!Calls || Calls->stacks().size() != T.Stacks.size())
      return createStringError(formatv(
          "block {0}: the stacks of thread {1} are not those in the trace",
          Cursor.block().Number, T.Thread));
    for (size_t S = 0; S < T.Stacks.size(); ++S) {
      uint32_t Number = T.Stacks[S].Activation;
      SmallVectorImpl<pieces::CallRecord> &Records = Calls->stacks()[S].Calls;
      for (size_t K = Records.size(); K--;) {
        Node &N = Result.Nodes[Records[K].Node - 1];
        if (N.Call.Node)
          break;
        Expected<pieces::ActivationRecord> A =
            States.pieces().activation(Number);
        if (!A)
          return A.takeError();
        if (A->Call.Slot != N.Call.Slot)
          return createStringError(formatv(
              "block {0}: the calls of thread {1} are not those in the trace",
              Cursor.block().Number, T.Thread));
        N.Call.Node = Number;
        Result.ByNumber[Number] = Records[K].Node - 1;
        Number = A->Parent;
      }
    }
  }
  return Error::success();
}

Error BlockCallsBuilder::run() {
  const Block &B = Cursor.block();
  Cursor.replayer().OnEvent = [this](const Event &E, Timestamp) {
    beforeEvent(E);
  };
  for (uint32_t Thread : pieces::snapshotThreads(B.Events))
    if (Error E = load(Thread))
      return E;
  code::ExecutionWalk Walk(Code, States.reader(), B);
  std::string Problem;
  auto OnEvent = [&](const Event &E, Timestamp T) {
    if (Error Failed = event(E, T)) {
      if (Problem.empty())
        Problem = toString(std::move(Failed));
      else
        consumeError(std::move(Failed));
    }
  };
  Walk.OnEvent = OnEvent;
  code::ExecutionWalk::Item I;
  while (true) {
    Expected<bool> More = Walk.next(I);
    if (!More)
      return More.takeError();
    if (!Problem.empty())
      return createStringError(Problem);
    if (!*More)
      break;
    if (I.Time > Result.Until)
      return Error::success();
    if (Error E = Walk.addFacts(I))
      return E;
    if (Result.Until - I.Time < I.Passed) {
      Result.LastThread = I.Thread;
      Result.LastPc = I.Facts->address(uint32_t(Result.Until - I.Time));
    }
    if (Error E = follow(I))
      return E;
  }
  return numberAtEnd();
}

} // namespace chronicle::calls
