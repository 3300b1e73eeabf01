// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/registers/RegisterSearch.h"
#include "query/state/Moment.h"
#include "trace-format/GuestState.h"
#include "trace-format/events/Events.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::registers {

static bool overlapsAny(ArrayRef<answers::StateRange> Bytes, uint32_t Offset,
                        uint32_t Size) {
  return any_of(Bytes, [&](const answers::StateRange &R) {
    return R.overlaps(Offset, Size);
  });
}

/// Whether the event writes any of the bytes of the thread's registers.
static bool writes(const Event &E, uint32_t Thread,
                   ArrayRef<answers::StateRange> Bytes) {
  // The result of a system call, which may be what the register had before.
  if (auto S = E.as<events::SyscallExitEvent>())
    return S->thread == Thread && overlapsAny(Bytes, CH_OFFSET_RAX, 8);
  auto R = E.as<events::RegistersEvent>();
  if (!R || R->thread != Thread)
    return false;
  for (uint32_t I = 0; I < R->count; ++I)
    if (overlapsAny(Bytes, uint32_t(R->change(I).Offset), 8))
      return true;
  return false;
}

/// Fills in who changed the registers: what happened to the thread between the
/// same two instructions.
static void findWriter(const Block &B, const Event &E,
                       answers::RegisterWrite &W) {
  W.By = answers::Writer::Core;
  for (const Event &Other : B.Events) {
    if (Other.Execution < E.Execution)
      continue;
    if (Other.Execution > E.Execution)
      break;
    if (auto S = Other.as<events::SyscallExitEvent>();
        S && S->thread == W.Thread && W.By != answers::Writer::Signal) {
      W.By = answers::Writer::SystemCall;
      W.SystemCall = uint32_t(S->number);
    } else if (auto Enter = Other.as<events::SyscallEnterEvent>();
               Enter && Enter->thread == W.Thread &&
               W.By == answers::Writer::Core) {
      W.By = answers::Writer::SystemCall;
      W.SystemCall = uint32_t(Enter->number);
    } else if (auto Signal = Other.as<events::SignalEvent>();
               Signal && Signal->thread == W.Thread) {
      W.By = answers::Writer::Signal;
    } else if (auto Return = Other.as<events::SignalReturnEvent>();
               Return && Return->thread == W.Thread) {
      W.By = answers::Writer::Signal;
    }
  }
}

/// The writes of one block, in order.
Expected<std::vector<answers::RegisterWrite>>
RegisterSearch::inBlock(BlockNumber N, uint32_t Thread,
                        ArrayRef<answers::StateRange> Bytes,
                        answers::TimeRange When) const {
  Expected<std::shared_ptr<const Block>> B = States.block(N);
  if (!B)
    return B.takeError();
  RegisterFacts::Words Any = {};
  for (const answers::StateRange &R : Bytes)
    RegisterFacts::add(Any, R.Offset, R.Size);
  std::vector<answers::RegisterWrite> Found;
  code::ExecutionWalk Walk(Code, States.reader(), **B);
  auto OnEvent = [&](const Event &E, Timestamp T) {
    if (T < When.First || T > When.Last || !writes(E, Thread, Bytes))
      return;
    answers::RegisterWrite W;
    W.Time = T;
    W.Thread = Thread;
    W.Block = N;
    W.Event = &E - (*B)->Events.data();
    findWriter(**B, E, W);
    // The result of a system call is in two events.
    if (!Found.empty() && Found.back().Event && Found.back().Time == T &&
        Found.back().By == W.By)
      return;
    Found.push_back(W);
  };
  Walk.OnEvent = OnEvent;
  code::ExecutionWalk::Item I;
  while (true) {
    Expected<bool> More = Walk.next(I);
    if (!More)
      return More.takeError();
    if (!*More || I.Time > When.Last)
      return Found;
    if (I.Thread != Thread || I.Time + I.Passed <= When.First)
      continue;
    Expected<const RegisterFacts *> F = Facts.facts(I.Superblock);
    if (!F)
      return F.takeError();
    if (!(*F)->mayWrite(Any))
      continue;
    if (Error E = Walk.addFacts(I))
      return E;
    for (const RegisterFacts::Write &W : (*F)->writes()) {
      const Timestamp T = I.Time + W.Instruction;
      if (W.Instruction >= I.Passed || (!I.Faults && W.Exit >= I.Ordinal))
        break;
      if (T < When.First || T > When.Last ||
          !overlapsAny(Bytes, W.Offset, W.Size) ||
          (!Found.empty() && Found.back().Time == T && !Found.back().Event))
        continue;
      answers::RegisterWrite Write;
      Write.Time = T;
      Write.Thread = Thread;
      Write.Block = N;
      Write.Pc = I.Facts->address(W.Instruction);
      Found.push_back(Write);
    }
  }
}

Error RegisterSearch::find(
    uint32_t Thread, ArrayRef<answers::StateRange> Bytes,
    answers::TimeRange When, bool Backward,
    function_ref<bool(const answers::RegisterWrite &)> Visit,
    const answers::Cancellation *Cancel) const {
  const file::TraceReader &Reader = States.reader();
  When.Last = std::min(When.Last, Reader.instructions());
  if (When.First > When.Last)
    return Error::success();
  // Events at the end of a block have the time of the next one's start.
  const BlockNumber First =
      Reader.blockAt(When.First ? When.First - 1 : When.First);
  const BlockNumber Last = Reader.blockAt(When.Last);
  const state::ThreadHistory &Threads = States.threads();
  std::optional<BlockNumber> N = Backward
                                     ? Threads.previousBlock(Thread, Last + 1)
                                     : Threads.nextBlock(Thread, First);
  while (N && (Backward ? *N >= First : *N <= Last)) {
    if (Cancel && Cancel->Cancelled)
      return Error::success();
    Expected<std::vector<answers::RegisterWrite>> Found =
        inBlock(*N, Thread, Bytes, When);
    if (!Found)
      return Found.takeError();
    if (Backward)
      std::reverse(Found->begin(), Found->end());
    if (!all_of(*Found, Visit))
      return Error::success();
    N = Backward ? Threads.previousBlock(Thread, *N)
                 : Threads.nextBlock(Thread, *N + 1);
  }
  return Error::success();
}

Expected<Change> RegisterSearch::change(const answers::RegisterWrite &W) const {
  const Timestamp Start = States.reader().blocks()[W.Block].First;
  const bool FromStart = W.Event && W.Time == Start;
  Expected<state::StateCursor> Cursor =
      FromStart ? States.atBlock(W.Block)
                : States.in(W.Block, W.Event ? W.Time - 1 : W.Time);
  if (!Cursor)
    return Cursor.takeError();
  std::optional<answers::Registers> Old, New;
  auto Now = [&]() -> std::optional<answers::Registers> {
    const uint8_t *State = Cursor->replayer().state(W.Thread);
    if (!State)
      return std::nullopt;
    answers::Registers R;
    std::memcpy(R.State.data(), State, R.State.size());
    return R;
  };
  if (!W.Event)
    Old = Now();
  const Event *Cause = W.Event ? &Cursor->block().Events[*W.Event] : nullptr;
  // Events that are one write follow each other.
  Cursor->replayer().OnEvent = [&](const Event &E, Timestamp T) {
    if (!Cause && T > W.Time && !New)
      New = Now();
    if (&E == Cause)
      Old = Now();
    else if (Cause && Old && !New && E.Kind == CH_EV_SIGNAL &&
             W.By != answers::Writer::Signal)
      New = Now();
  };
  if (Error E = Cursor->runTo(W.Event ? W.Time : W.Time + 1))
    return E;
  if (!New)
    New = Now();
  // The block may have no snapshot of the thread before the event.
  for (auto [Which, T] : {std::pair(&Old, W.Time ? W.Time - 1 : 0),
                          std::pair(&New, W.visibleFrom())})
    if (!*Which) {
      Expected<answers::Registers> R =
          state::Moment(States, T).registers(W.Thread);
      if (!R)
        return R.takeError();
      *Which = *R;
    }
  return Change{*Old, *New};
}

} // namespace chronicle::registers
