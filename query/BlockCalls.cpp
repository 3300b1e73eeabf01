// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/BlockCalls.h"
#include "trace-format/BlockFormat.h"
#include "trace-format/GuestState.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle {

Expected<const ThreadStacks *>
stacksBefore(StateCache &States, uint32_t Thread, BlockNumber N,
             std::shared_ptr<const std::vector<ThreadStacks>> &Holder) {
  // A signal that is about to be delivered stands in the block right before,
  // even if the thread did not run in it.
  for (BlockNumber At = N; At;) {
    std::optional<BlockNumber> Earlier =
        At == N ? N - 1 : States.threads().previousBlock(Thread, At);
    if (!Earlier)
      return nullptr;
    At = *Earlier;
    auto Stacks = States.reader().readStacks(At);
    if (!Stacks)
      return Stacks.takeError();
    Holder = *Stacks;
    for (const ThreadStacks &T : *Holder)
      if (T.Thread == Thread)
        return &T;
  }
  return nullptr;
}

/// As callee of a tracker's record: which one is not known here.
static constexpr uint32_t EnteredEarlier = ~uint32_t(0);

/// Follows a block from its start. In the trackers' records, Node is the index
/// of the activation in Nodes, plus 1.
class BlockCallsBuilder {
public:
  BlockCallsBuilder(StateCache &States, const CodeTable &Code,
                    StateCursor Cursor, BlockCalls &Result)
      : States(States), Code(Code), Cursor(std::move(Cursor)), Result(Result) {}

  Error run();

private:
  using Node = BlockCalls::Node;

  Error load(uint32_t Thread);
  Error loadStack(uint32_t Thread, const ThreadStacks::Stack &From,
                  CallStackRecord &Into);
  Error event(const Event &E, Timestamp T);
  Error follow(const ExecutionWalk::Item &I);
  Error followExit(const ExecutionWalk::Item &I, CallTracker &Calls);
  void beforeEvent(const Event &E);
  Expected<uint64_t> stackPointerAt(const ExecutionWalk::Item &I, Timestamp T);
  Error endInside(const ExecutionWalk::Item &I);
  void end(const CallRecord &Call, Timestamp T);
  void update(uint32_t Thread, CallTracker &Calls, Timestamp T);
  void number(uint32_t Thread, MutableArrayRef<CallStackRecord> Stacks,
              CallStackRecord &Stack);
  void note(uint32_t Thread, uint32_t Innermost, Timestamp T);
  Error numberAtEnd();

  StateCache &States;
  const CodeTable &Code;
  StateCursor Cursor;
  BlockCalls &Result;
  CallFollower Follower;
  std::vector<CallRecord> Ended;
  DenseMap<const Event *, uint64_t> PcBefore; ///< changes of registers
  const ExecutionWalk::Item *Wanted = nullptr;
  std::optional<uint64_t> StackPointerSeen;
};

Error BlockCallsBuilder::loadStack(uint32_t Thread,
                                   const ThreadStacks::Stack &From,
                                   CallStackRecord &Into) {
  Into.StackPointer = From.StackPointer;
  Into.Top = From.Top;
  Into.Id = From.Id;
  Into.Interrupted = From.Interrupted;
  uint32_t Outer = 0;
  for (uint32_t Number = From.Activation; Number;) {
    Expected<ActivationRecord> A = States.reader().activation(Number);
    if (!A)
      return A.takeError();
    Into.Calls.push_back(A->Call);
    Number = A->Parent;
    if (A->isFirstOfStack()) {
      Outer = Number;
      break;
    }
  }
  if (Into.Calls.empty() || Into.Calls.back().Slot != NeverEnds)
    return createStringError("the call stacks of the trace are damaged");
  std::reverse(Into.Calls.begin(), Into.Calls.end());
  uint32_t Parent = BlockCalls::None;
  if (Outer)
    if (auto It = Result.ByNumber.find(Outer); It != Result.ByNumber.end())
      Parent = It->second;
  for (CallRecord &Call : Into.Calls) {
    Node &N = Result.Nodes.emplace_back();
    N.Call = Call;
    N.Parent = Parent;
    N.Thread = Thread;
    if (N.isFirst()) {
      N.Extra = From.Top;
      N.Hidden = From.Interrupted;
    }
    Parent = Result.size() - 1;
    Result.ByNumber[Call.Node] = Parent;
    Call.Node = Parent + 1;
    // Written before its first superblock ran, which has run since unless a
    // signal came first: it must not be taken for new when it goes on.
    const CallRecord *Inner = &Call == &Into.Calls.back() ? nullptr : &Call + 1;
    if (!Call.Callee && Inner && !(Inner->Signal && Inner->Entry == Call.Entry))
      Call.Callee = EnteredEarlier;
  }
  return Error::success();
}

Error BlockCallsBuilder::load(uint32_t Thread) {
  std::shared_ptr<const std::vector<ThreadStacks>> Holder;
  Expected<const ThreadStacks *> T =
      stacksBefore(States, Thread, Cursor.block().Number, Holder);
  if (!T)
    return T.takeError();
  if (!*T)
    return Error::success();
  std::vector<CallStackRecord> Stacks((*T)->Stacks.size());
  // A signal stack refers to what it interrupted, which is older.
  std::vector<size_t> Order(Stacks.size());
  for (size_t I = 0; I < Order.size(); ++I)
    Order[I] = I;
  llvm::sort(Order, [&](size_t A, size_t B) {
    return (*T)->Stacks[A].Id < (*T)->Stacks[B].Id;
  });
  for (size_t I : Order)
    if (Error E = loadStack(Thread, (*T)->Stacks[I], Stacks[I]))
      return E;
  Follower.add(Thread, CallTracker(std::move(Stacks)), (*T)->Signals);
  CallTracker &Calls = *Follower.thread(Thread);
  Calls.Ended = &Ended;
  note(Thread, Calls.current().Calls.back().Node - 1, 0);
  return Error::success();
}

void BlockCallsBuilder::note(uint32_t Thread, uint32_t Innermost, Timestamp T) {
  std::vector<BlockCalls::Change> &Line = Result.Timelines[Thread];
  if (Line.empty() || Line.back().Node != Innermost)
    Line.push_back({T, Innermost});
}

void BlockCallsBuilder::end(const CallRecord &Call, Timestamp T) {
  // One that began and ended at the same moment was never seen.
  if (!Call.Node)
    return;
  Node &N = Result.Nodes[Call.Node - 1];
  N.End = T;
  if (N.Parent != BlockCalls::None)
    note(N.Thread, N.Parent, T);
}

/// Makes nodes of the records that have none.
void BlockCallsBuilder::number(uint32_t Thread,
                               MutableArrayRef<CallStackRecord> Stacks,
                               CallStackRecord &Stack) {
  size_t Known = Stack.Calls.size();
  while (Known && !Stack.Calls[Known - 1].Node)
    --Known;
  uint32_t Parent = BlockCalls::None;
  if (Known) {
    Parent = Stack.Calls[Known - 1].Node - 1;
  } else if (Stack.Interrupted) {
    auto It = llvm::find_if(Stacks, [&](const CallStackRecord &S) {
      return S.Id == Stack.Interrupted;
    });
    if (It != Stacks.end())
      Parent = It->Calls.back().Node - 1;
  }
  for (CallRecord &Call : MutableArrayRef(Stack.Calls).drop_front(Known)) {
    Node &N = Result.Nodes.emplace_back();
    N.Call = Call;
    N.Parent = Parent;
    N.Thread = Thread;
    N.Created = true;
    if (N.isFirst()) {
      N.Extra = Stack.Top;
      N.Hidden = Stack.Interrupted;
    }
    Parent = Result.size() - 1;
    Call.Node = Parent + 1;
  }
}

/// After the tracker was told something: what is new since.
void BlockCallsBuilder::update(uint32_t Thread, CallTracker &Calls,
                               Timestamp T) {
  for (const CallRecord &Call : Ended)
    end(Call, T);
  Ended.clear();
  number(Thread, Calls.stacks(), Calls.current());
  note(Thread, Calls.current().Calls.back().Node - 1, T);
}

static uint64_t wordAt(const uint8_t *State, unsigned Offset) {
  return support::endian::read64le(State + Offset);
}

Error BlockCallsBuilder::event(const Event &E, Timestamp T) {
  uint32_t Thread =
      E.Payload.size() < 4 ? 0 : support::endian::read32le(E.Payload.data());
  bool Matters = E.Kind == CH_EV_SNAPSHOT || E.Kind == CH_EV_REGISTERS;
  uint64_t Interrupted = 0;
  if (E.Kind == CH_EV_REGISTERS && !Follower.signalsOf(Thread).empty()) {
    if (Error Problem = Cursor.runTo(T))
      return Problem;
    Interrupted = PcBefore.lookup(&E);
  }
  Follower.event(E.Kind, E.Payload, T);
  CallTracker *Calls = Matters ? Follower.thread(Thread) : nullptr;
  if (!Calls)
    return Error::success();
  Calls->Ended = &Ended;
  uint32_t Before = Result.size();
  update(Thread, *Calls, T);
  // The outermost of several handlers interrupted the program, the others the
  // first instruction of the one before; only the first is known.
  for (uint32_t N = Before; N < Result.size(); ++N)
    if (Result.Nodes[N].Call.Signal) {
      Result.Nodes[N].Extra = Interrupted;
      break;
    }
  return Error::success();
}

/// Replay is about to let an event happen: what it changes and will be asked
/// for is kept.
void BlockCallsBuilder::beforeEvent(const Event &E) {
  if (Wanted && !StackPointerSeen && E.Execution > Wanted->Index)
    if (const uint8_t *State = Cursor.replayer().state(Wanted->Thread))
      StackPointerSeen = wordAt(State, CH_OFFSET_RSP);
  if (E.Kind != CH_EV_REGISTERS || E.Payload.size() < 4)
    return;
  uint32_t Thread = support::endian::read32le(E.Payload.data());
  if (const uint8_t *State = Cursor.replayer().state(Thread))
    PcBefore[&E] = wordAt(State, CH_OFFSET_RIP);
}

/// The stack pointer of the execution's thread at T, which is not after its
/// end; at its end, before any event.
Expected<uint64_t>
BlockCallsBuilder::stackPointerAt(const ExecutionWalk::Item &I, Timestamp T) {
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

/// Activations ended in the middle of a superblock: finds out at which
/// instructions.
Error BlockCallsBuilder::endInside(const ExecutionWalk::Item &I) {
  auto Left = ArrayRef(Ended);
  for (uint32_t K = 1; K < I.Passed && !Left.empty(); ++K) {
    Expected<uint64_t> StackPointer = stackPointerAt(I, I.Time + K);
    if (!StackPointer)
      return StackPointer.takeError();
    for (; !Left.empty() && Left.front().Slot < *StackPointer;
         Left = Left.drop_front())
      end(Left.front(), I.Time + K);
  }
  for (const CallRecord &Call : Left)
    end(Call, I.Time + I.Passed);
  Ended.clear();
  return Error::success();
}

Error BlockCallsBuilder::followExit(const ExecutionWalk::Item &I,
                                    CallTracker &Calls) {
  const CodeFacts::Exit &X = I.Facts->exit(I.Ordinal);
  const Timestamp After = I.Time + I.Passed;
  if (X.Stack.Base) {
    // What the last set gave is known from where the stack pointer is in the
    // end; what earlier ones gave, from where it is after their instruction.
    for (uint32_t K = 0; K < X.Stack.Base; ++K) {
      const CodeFacts::StackSet &Set = I.Facts->stackSets()[K];
      if (!Set.Elsewhere || K + 1 == X.Stack.Base ||
          I.Facts->stackSets()[K + 1].Instruction == Set.Instruction)
        continue;
      Timestamp When = I.Time + Set.Instruction + 1;
      Expected<uint64_t> To = stackPointerAt(I, When);
      if (!To)
        return To.takeError();
      Calls.set(*To, When);
      update(I.Thread, Calls, When);
    }
    Expected<uint64_t> Last = stackPointerAt(I, After);
    if (!Last)
      return Last.takeError();
    const CodeFacts::StackSet &Set = I.Facts->stackSets()[X.Stack.Base - 1];
    if (Set.Elsewhere) {
      Calls.set(*Last - uint64_t(X.Stack.Delta), After);
      update(I.Thread, Calls, I.Time + Set.Instruction + 1);
    }
    Calls.moved(*Last);
    update(I.Thread, Calls, After);
    return Error::success();
  }
  uint64_t To = Calls.stackPointer() + uint64_t(X.Stack.Delta);
  Calls.moved(To);
  bool Returns = X.Jump == CH_JUMP_RETURN && Ended.size() == 1 &&
                 Ended.front().Slot == To - 8;
  if (!Ended.empty() && !Returns)
    if (Error E = endInside(I))
      return E;
  update(I.Thread, Calls, After);
  return Error::success();
}

Error BlockCallsBuilder::follow(const ExecutionWalk::Item &I) {
  CallTracker *Calls = Follower.running();
  if (!Calls)
    return Error::success();
  if (Calls->limit() == 0) {
    Calls->step(I.Superblock, I.Time);
    const CallRecord &Call = Calls->current().Calls.back();
    Node &N = Result.Nodes[Call.Node - 1];
    N.Call.Entry = Call.Entry;
    N.Call.Callee = Call.Callee;
  }
  if (I.Faults) {
    // The registers come in an event; only a change of stacks is lost by then.
    for (const CodeFacts::StackSet &Set : I.Facts->stackSets()) {
      Timestamp When = I.Time + Set.Instruction + 1;
      if (!Set.Elsewhere || Set.Instruction >= I.Passed)
        continue;
      Expected<uint64_t> To = stackPointerAt(I, When);
      if (!To)
        return To.takeError();
      Calls->set(*To, When);
      update(I.Thread, *Calls, When);
    }
    return Error::success();
  }
  const CodeFacts::Exit &X = I.Facts->exit(I.Ordinal);
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
    update(I.Thread, *Calls, I.Time + I.Passed);
  }
  return Error::success();
}

/// Activations alive at the end got their numbers there.
Error BlockCallsBuilder::numberAtEnd() {
  auto Stacks = States.reader().readStacks(Cursor.block().Number);
  if (!Stacks)
    return Stacks.takeError();
  for (const ThreadStacks &T : **Stacks) {
    CallTracker *Calls = Follower.thread(T.Thread);
    if (!Calls || Calls->stacks().size() != T.Stacks.size())
      return createStringError(
          formatv("block {0}: thread {1} has other stacks than the trace says",
                  Cursor.block().Number, T.Thread));
    for (size_t S = 0; S < T.Stacks.size(); ++S) {
      uint32_t Number = T.Stacks[S].Activation;
      SmallVectorImpl<CallRecord> &Records = Calls->stacks()[S].Calls;
      for (size_t K = Records.size(); K--;) {
        Node &N = Result.Nodes[Records[K].Node - 1];
        if (N.Call.Node)
          break;
        Expected<ActivationRecord> A = States.reader().activation(Number);
        if (!A)
          return A.takeError();
        if (A->Call.Slot != N.Call.Slot)
          return createStringError(formatv(
              "block {0}: thread {1} is in other calls than the trace says",
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
  for (uint32_t Thread : snapshotThreads(B.Events))
    if (Error E = load(Thread))
      return E;
  ExecutionWalk Walk(Code, States.reader(), B);
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
  ExecutionWalk::Item I;
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

Expected<std::unique_ptr<BlockCalls>> BlockCalls::create(StateCache &States,
                                                         const CodeTable &Code,
                                                         BlockNumber N,
                                                         Timestamp Until) {
  Expected<StateCursor> Cursor = States.atBlock(N);
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

std::optional<TimeRange>
BlockCalls::stretchBefore(uint32_t Thread, uint32_t Node, Timestamp T) const {
  auto Line = Timelines.find(Thread);
  if (Line == Timelines.end())
    return std::nullopt;
  auto It = llvm::partition_point(Line->second,
                                  [&](const Change &C) { return C.Time < T; });
  for (Timestamp End = T; It != Line->second.begin(); End = It->Time) {
    --It;
    if (It->Node == Node && It->Time < End)
      return TimeRange{It->Time, End - 1};
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

} // namespace chronicle
