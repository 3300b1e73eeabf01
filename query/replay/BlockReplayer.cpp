// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/replay/BlockReplayer.h"
#include "trace-format/events/Events.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace llvm;

namespace chronicle::replay {

BlockReplayer::BlockReplayer(machine::ReplayMemory &Memory,
                             program::ProgramCache &Programs,
                             const ExitTable &Exits)
    : Memory(Memory), Programs(Programs), Exits(Exits), Machine(Memory) {}

void BlockReplayer::start(const Block &Block) {
  B = &Block;
  Time = Block.First;
  Execution = 0;
  NextEvent = 0;
  Current = 0;
  LastSuperblock = 0;
  LastAddress = 0;
  WrongExit = 0;
  Inside = false;
  Stopped.clear();
  Pending.clear();
  Machine.setOpaque(Block.Opaque);
}

bool BlockReplayer::mismatch(const Twine &What) {
  if (OnMismatch) {
    Mismatch M;
    M.Block = B->Number;
    M.Time = Time;
    M.Thread = Current;
    M.Superblock = LastSuperblock;
    M.SuperblockAddress = LastAddress;
    M.What = What.str();
    OnMismatch(M);
  }
  return false;
}

const uint8_t *BlockReplayer::state(uint32_t Thread) const {
  if (Thread == Current && Thread != 0)
    return Machine.state();
  auto It = Stopped.find(Thread);
  return It == Stopped.end() ? nullptr : It->second.data();
}

uint8_t *BlockReplayer::stateForChange(uint32_t Thread) {
  return const_cast<uint8_t *>(state(Thread));
}

std::vector<uint32_t> BlockReplayer::threads() const {
  std::vector<uint32_t> Result;
  if (Current)
    Result.push_back(Current);
  for (auto &Item : Stopped)
    Result.push_back(Item.first);
  llvm::sort(Result);
  return Result;
}

void BlockReplayer::switchTo(uint32_t Thread) {
  if (Thread == Current)
    return;
  if (Current)
    std::memcpy(Stopped[Current].data(), Machine.state(), CH_GUEST_STATE_SIZE);
  Current = Thread;
  auto It = Stopped.find(Thread);
  std::memcpy(Machine.state(), It->second.data(), CH_GUEST_STATE_SIZE);
  Stopped.erase(It);
}

const Event *BlockReplayer::nextEvent() const {
  return NextEvent < B->Events.size() ? &B->Events[NextEvent] : nullptr;
}

/// Whether the event takes effect inside the next superblock.
static bool waitsForLoad(const Event &E) {
  auto W = E.as<events::OutsideWriteEvent>();
  return W && W->found_by == CH_FOUND_BY_LOAD &&
         (W->instruction != 0 || W->flags & CH_OUTSIDE_BEFORE_SWAP);
}

bool BlockReplayer::damaged(const Event &E) {
  return mismatch("damaged event of kind " + Twine(E.Kind));
}

bool BlockReplayer::unknownThread(uint32_t Thread) {
  return mismatch("thread " + Twine(Thread) + " has no snapshot in this block");
}

bool BlockReplayer::applySnapshot(const Event &E) {
  auto S = E.as<events::SnapshotEvent>();
  if (!S)
    return damaged(E);
  const uint32_t Thread = S->thread;
  const uint8_t *Bytes = S->state();
  if (const uint8_t *Known = state(Thread)) {
    std::string Difference = describeDifference(Known, Bytes);
    if (!Difference.empty())
      mismatch("thread " + Twine(Thread) + ": " + Difference);
    std::memcpy(stateForChange(Thread), Bytes, CH_GUEST_STATE_SIZE);
    return true;
  }
  if (OnSnapshot)
    OnSnapshot(Thread, Bytes);
  std::memcpy(Stopped[Thread].data(), Bytes, CH_GUEST_STATE_SIZE);
  return true;
}

bool BlockReplayer::applyRegisters(const Event &E) {
  auto R = E.as<events::RegistersEvent>();
  if (!R)
    return damaged(E);
  uint8_t *State = stateForChange(R->thread);
  if (!State)
    return unknownThread(R->thread);
  for (uint32_t I = 0; I < R->count; ++I) {
    const auto [Offset, Value] = R->change(I);
    if (Offset > CH_GUEST_STATE_SIZE - 8)
      return damaged(E);
    operations::storeValue(State + Offset, Value);
  }
  return true;
}

bool BlockReplayer::applyMemory(const Event &E) {
  auto M = E.as<events::MemoryEvent>();
  if (!M)
    return damaged(E);
  if (M->flags & CH_MEM_ZERO) {
    Memory.zero(M->address, M->length);
  } else if (M->flags & CH_MEM_BY_REFERENCE) {
    if (M->length > CH_MEMORY_RECORD_BYTES) // all of it is read into memory
      return damaged(E);
    Memory.writeByReference(M->address, M->length, B->Number);
  } else if (auto Bytes = M->bytes()) {
    Memory.write(M->address, Bytes->data(), Bytes->size());
  } else {
    return damaged(E);
  }
  return true;
}

bool BlockReplayer::apply(const Event &E) {
  if (OnEvent && !waitsForLoad(E))
    OnEvent(E, Time);
  switch (E.Kind) {
  case CH_EV_SNAPSHOT:
    return applySnapshot(E);
  case CH_EV_RESUME: {
    auto R = E.as<events::ResumeEvent>();
    if (!R)
      return damaged(E);
    if (!state(R->thread))
      return unknownThread(R->thread);
    switchTo(R->thread);
    return true;
  }
  case CH_EV_REGISTERS:
    return applyRegisters(E);
  case CH_EV_FAULT:
    // execute() looks ahead and takes the one that belongs to an execution.
    return mismatch("a fault without the superblock it happened in");
  case CH_EV_MEMORY:
    return applyMemory(E);
  case CH_EV_MAP: {
    auto M = E.as<events::MapEvent>();
    if (!M)
      return damaged(E);
    Memory.map(*M);
    return true;
  }
  case CH_EV_UNMAP: {
    auto R = E.as<events::UnmapEvent>();
    if (!R)
      return damaged(E);
    Memory.unmap(R->address, R->length);
    return true;
  }
  case CH_EV_OUTSIDE_WRITE: {
    auto W = E.as<events::OutsideWriteEvent>();
    if (!W)
      return damaged(E);
    if (waitsForLoad(E))
      Pending.push_back(&E);
    else
      Memory.write(W->address, W->bytes().data(), W->length);
    return true;
  }
  default:
    return true;
  }
}

bool BlockReplayer::applyEvents() {
  while (const Event *E = nextEvent()) {
    if (E->Execution > Execution)
      break;
    ++NextEvent;
    if (!apply(*E))
      return false;
  }
  return true;
}

/// Whether the event takes effect inside its instruction, right before the
/// compare-and-swap.
static bool waitsForSwap(const events::OutsideWriteEvent &W) {
  return W.flags & CH_OUTSIDE_BEFORE_SWAP;
}

/// Makes those of the pending writes that are due at an instruction: at its
/// beginning or at its compare-and-swap.
void BlockReplayer::writePending(uint32_t Instruction, bool AtSwap,
                                 Timestamp T) {
  std::vector<const Event *> Later;
  for (const Event *E : Pending) {
    auto W = E->as<events::OutsideWriteEvent>();
    if (W->instruction != Instruction || waitsForSwap(*W) != AtSwap) {
      Later.push_back(E);
      continue;
    }
    if (OnEvent)
      OnEvent(*E, T);
    Memory.write(W->address, W->bytes().data(), W->length);
  }
  Pending = std::move(Later);
}

void BlockReplayer::beforeSwap(uint32_t Instruction) {
  if (!Pending.empty())
    writePending(Instruction, true, SuperblockStart + Instruction);
}

/// Runs the current superblock with its exact program up to instruction Last or
/// to an exit, and makes the writes from outside where they were found.
bool BlockReplayer::runWithStops(uint32_t Superblock, uint32_t Last,
                                 uint32_t &Ordinal) {
  Expected<const program::ReplayProgram *> Program =
      Programs.get(Superblock, program::ProgramForm::Exact);
  if (!Program)
    return mismatch(toString(Program.takeError()));
  const Timestamp Start = Inside ? Time - InsideAt : Time;
  SuperblockStart = Start;
  Machine.setSwapListener(Pending.empty() ? nullptr : this);
  scope_exit NoListener([&] { Machine.setSwapListener(nullptr); });
  while (true) {
    uint32_t Stop = Last;
    for (const Event *E : Pending)
      if (auto W = E->as<events::OutsideWriteEvent>(); !waitsForSwap(*W))
        Stop = std::min<uint32_t>(Stop, W->instruction);
    if (Inside && Stop == InsideAt && Stop == Last) {
      Ordinal = machine::Interpreter::Stopped;
    } else {
      Ordinal = Inside ? Machine.resume(Stop, Observer)
                       : Machine.run(**Program, Stop, Observer);
    }
    if (Ordinal != machine::Interpreter::Stopped)
      return true;
    Inside = true;
    InsideAt = Stop;
    Time = Start + Stop;
    Machine.setRip((*Program)->address(Stop));
    writePending(Stop, false, Start + Stop);
    if (Stop == Last)
      return true;
  }
}

bool BlockReplayer::lookAhead(Ahead &A) {
  const uint32_t Exit = B->Symbols[Execution];
  if (Exit >= Exits.size())
    return mismatch("the sequence names exit " + Twine(Exit) +
                    ", but no superblock has that exit");
  A.Superblock = Exits.superblock(Exit);
  A.Ordinal = Exits.ordinal(Exit);
  LastSuperblock = A.Superblock;
  llvm::Expected<const program::ReplayProgram *> Fast =
      Programs.get(A.Superblock, Form);
  if (!Fast)
    return mismatch(toString(Fast.takeError()));
  A.Program = *Fast;
  LastAddress = A.Program->start();

  // A fault is the first event after the execution it interrupts.
  const Event *Next = nextEvent();
  A.Faults = LLVM_UNLIKELY(Next && Next->Execution == Execution + 1 &&
                           Next->Kind == CH_EV_FAULT);
  A.FaultRip = 0;
  A.Passed = A.Program->exit(A.Ordinal).Instructions;
  if (A.Faults) {
    auto F = Next->as<events::FaultEvent>();
    if (!F)
      return mismatch("damaged event of kind " + Twine(CH_EV_FAULT));
    A.FaultRip = F->rip;
    int Index = A.Program->instructionAt(F->rip);
    if (Index < 0)
      return mismatch(formatv(
          "a fault at {0:x}, which this superblock does not have", A.FaultRip));
    A.Passed = static_cast<uint32_t>(Index);
  }
  return true;
}

/// Whether the address is one of the three functions in the kernel's vsyscall
/// page, which can be called but not read. Valgrind runs copies of them, which
/// are in its own code. A copy begins where the function would.
static bool isVsyscall(uint64_t Address) {
  return Address >= 0xffffffffff600000 && Address < 0xffffffffff600c00 &&
         Address % 0x400 == 0;
}

bool BlockReplayer::execute(Timestamp T, bool &Reached) {
  Ahead A;
  if (!lookAhead(A))
    return false;
  const uint32_t Exit = B->Symbols[Execution];
  const program::ReplayProgram &Program = *A.Program;
  const bool Faults = A.Faults;
  const uint32_t Passed = A.Passed;
  uint32_t Expected = A.Ordinal;
  if (LLVM_UNLIKELY(Current == 0))
    return mismatch("a superblock runs before any thread does");
  if (LLVM_UNLIKELY(!Inside && isVsyscall(Machine.rip())))
    Machine.setRip(LastAddress);
  if (LLVM_UNLIKELY(!Inside && Machine.rip() != LastAddress))
    return mismatch(formatv("replay is at {0:x}, the recorded run at {1:x}",
                            Machine.rip(), LastAddress));

  // When the superblock was entered: it may have stopped inside before.
  const Timestamp Start = Inside ? Time - InsideAt : Time;
  uint32_t Ordinal;
  if (LLVM_LIKELY(!Faults && !Inside && Pending.empty() &&
                  T - Start >= Passed)) {
    Ordinal = Machine.run(Program, machine::Interpreter::NoStop, Observer);
  } else {
    const bool StopsInside = T - Start < Passed;
    uint32_t Last = StopsInside ? static_cast<uint32_t>(T - Start)
                    : Faults    ? Passed
                                : machine::Interpreter::NoStop;
    if (!runWithStops(A.Superblock, Last, Ordinal))
      return false;
    if (StopsInside) {
      if (Ordinal != machine::Interpreter::Stopped)
        return mismatch("left too early by exit " + Twine(Ordinal));
      Time = T;
      Reached = true;
      return true;
    }
    if (Faults) {
      if (Ordinal != machine::Interpreter::Stopped)
        return mismatch(formatv("left by exit {0}; in the recorded run the "
                                "instruction at {1:x} faulted",
                                Ordinal, A.FaultRip));
      Machine.setRip(A.FaultRip);
      if (OnEvent)
        OnEvent(*nextEvent(), Start + Passed);
      ++NextEvent;
      Expected = machine::Interpreter::Stopped;
    }
  }
  if (LLVM_UNLIKELY(Ordinal != Expected))
    return wrongExit(Ordinal, Expected);
  if (!Faults)
    Known[Exit % KnownExits] = {Exit + 1, 0, Program.exit(Expected),
                                Native ? Native->find(A.Superblock) : nullptr};
  Inside = false;
  Time = Start + Passed;
  ++Execution;
  return true;
}

/// Interprets a superblock. Once it is hot, compiles it so that later runs are
/// native.
uint32_t BlockReplayer::interpret(KnownExit &K) {
  if (LLVM_UNLIKELY(Native && !Observer && ++K.Runs == RunsUntilNative)) {
    const uint32_t Superblock = Exits.superblock(K.Number - 1);
    if (auto P = Programs.get(Superblock, Form))
      K.Program = Native->make(Superblock, (*P)->ops());
    else
      consumeError(P.takeError()); // execute() has run it before
  }
  return Machine.run(K.Exit.Code, machine::Interpreter::NoStop, Observer);
}

/// Runs whole superblocks as long as nothing is special: no event, no stop
/// inside, no exit that was not taken before. execute() deals with what stops
/// it.
void BlockReplayer::runPlain(Timestamp T) {
  if (Inside || !Pending.empty() || Current == 0 || T < Time)
    return;
  uint64_t Limit = std::min<uint64_t>(B->Symbols.size(), StopExecution);
  if (const Event *E = nextEvent())
    Limit = std::min(Limit,
                     E->Kind == CH_EV_FAULT ? E->Execution - 1 : E->Execution);
  const uint32_t *Symbols = B->Symbols.data();
  const bool UseNative = Native && !Observer;
  while (Execution < Limit) {
    const uint32_t Symbol = Symbols[Execution];
    KnownExit &K = Known[Symbol % KnownExits];
    const program::ReplayExit &S = K.Exit;
    if (K.Number != Symbol + 1 || Machine.rip() != S.Address ||
        T - Time < S.Instructions)
      return;
    const uint32_t Ordinal =
        UseNative && K.Program
            ? native::NativeCode::run(K.Program, Machine, Memory)
            : interpret(K);
    if (LLVM_UNLIKELY(Ordinal != S.Ordinal)) {
      LastSuperblock = Exits.superblock(Symbol);
      LastAddress = S.Address;
      WrongExit = Ordinal;
      return;
    }
    Time += S.Instructions;
    ++Execution;
  }
}

bool BlockReplayer::wrongExit(uint32_t Ordinal, uint32_t Expected) {
  if (Ordinal == machine::Interpreter::OutOfOpaque)
    return mismatch("the block has too few opaque bytes");
  return mismatch("left by exit " + Twine(Ordinal) +
                  ", in the recorded run by " + Twine(Expected));
}

bool BlockReplayer::runTo(Timestamp T) {
  while (true) {
    if (!Inside && !applyEvents())
      return false;
    runPlain(T);
    if (WrongExit)
      return wrongExit(WrongExit, Exits.ordinal(B->Symbols[Execution]));
    if (const Event *E = nextEvent(); E && !Inside && E->Execution <= Execution)
      continue;
    if (Execution == B->Symbols.size() || Execution >= StopExecution ||
        T < Time || (Inside && T == Time))
      return true;
    if (T == Time) {
      // An execution that passes no instruction (the first one faults) comes
      // before the state at T, as events do.
      Ahead A;
      if (!lookAhead(A))
        return false;
      if (A.Passed)
        return true;
    }
    bool Reached = false;
    if (!execute(T, Reached))
      return false;
    if (Reached)
      return true;
  }
}

bool BlockReplayer::finishSuperblock() {
  if (!Inside)
    return true;
  Ahead A;
  return lookAhead(A) && runTo(Time - InsideAt + A.Passed);
}

ReplayPosition BlockReplayer::save() const {
  assert(canSave());
  ReplayPosition P;
  P.Time = Time;
  P.Execution = Execution;
  P.NextEvent = NextEvent;
  P.OpaqueLeft = opaqueLeft();
  P.Current = Current;
  for (uint32_t Thread : threads()) {
    P.States.emplace_back(Thread, GuestState());
    std::memcpy(P.States.back().second.data(), state(Thread),
                CH_GUEST_STATE_SIZE);
  }
  P.Pending = Pending;
  return P;
}

void BlockReplayer::restore(const Block &Block, const ReplayPosition &P) {
  start(Block);
  Time = P.Time;
  Execution = P.Execution;
  NextEvent = P.NextEvent;
  Machine.setOpaque(Block.Opaque.take_back(P.OpaqueLeft));
  for (const auto &[Thread, State] : P.States)
    Stopped[Thread] = State;
  if (P.Current)
    switchTo(P.Current);
  Pending = P.Pending;
}

} // namespace chronicle::replay
