// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/diversion/Diversion.h"
#include "lldb-plugin/diversion/KernelAnswers.h"
#include "query/answers/SystemCalls.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FormatVariadic.h"
#include <condition_variable>
#include <thread>

using namespace llvm;

namespace chronicle::diversion {

Expected<std::unique_ptr<Diversion>>
Diversion::create(const Moment &At, Scratch &Own, KeptHeap &Heap) {
  Expected<std::unique_ptr<Tracee>> P = Tracee::create();
  if (!P)
    return P.takeError();
  std::unique_ptr<Diversion> Result(new Diversion(At, std::move(*P), Heap));
  Expected<std::unique_ptr<MomentMemory>> Memory =
      MomentMemory::create(*Result->P, At.T, At.Time, Own);
  if (!Memory)
    return Memory.takeError();
  Result->Memory = std::move(*Memory);
  return Result;
}

Diversion::~Diversion() = default;

Expected<MachineState> Diversion::registers() const {
  Expected<std::vector<uint8_t>> Extended = P->extended();
  if (!Extended)
    return Extended.takeError();
  return MachineState{P->General, std::move(*Extended)};
}

Error Diversion::setRegisters(const MachineState &To) {
  P->General = To.General;
  return P->setExtended(To.Extended);
}

namespace {
/// Interrupts a process at a time limit or when the user wants it.
class Watchdog {
public:
  Watchdog(Tracee &P, const answers::Cancellation &Cancel,
           std::chrono::milliseconds Limit)
      : Watcher([this, &P, &Cancel, Limit] { watch(P, Cancel, Limit); }) {}
  ~Watchdog() {
    {
      std::lock_guard<std::mutex> Guard(Lock);
      Done = true;
    }
    Wake.notify_all();
    Watcher.join();
  }
  bool timedOut() const { return TimedOut; }

private:
  void watch(Tracee &P, const answers::Cancellation &Cancel,
             std::chrono::milliseconds Limit) {
    const auto Deadline = std::chrono::steady_clock::now() + Limit;
    std::unique_lock<std::mutex> Guard(Lock);
    while (!Wake.wait_for(Guard, std::chrono::milliseconds(10),
                          [this] { return Done; })) {
      TimedOut = std::chrono::steady_clock::now() >= Deadline;
      if (!TimedOut && !Cancel.Cancelled)
        continue;
      P.interrupt();
      return;
    }
  }

  std::mutex Lock;
  std::condition_variable Wake;
  bool Done = false;
  std::atomic<bool> TimedOut = false;
  std::thread Watcher; ///< last: it uses the others
};
} // namespace

/// Puts the breakpoints of a page in, and traps at the functions that allocate
/// memory. Those of other pages follow when the process has them.
Error Diversion::plant(uint64_t Page) {
  const uint8_t Trap = 0xcc;
  auto PlantAll = [&](const auto &Addresses) -> Error {
    for (auto It = Addresses.lower_bound(Page);
         It != Addresses.end() && *It < Page + PageSize; ++It) {
      uint8_t Byte;
      if (Planted.contains(*It))
        continue;
      if (Error E = P->read(*It, Byte))
        return E;
      if (Error E = P->write(*It, Trap))
        return E;
      Planted[*It] = Byte;
    }
    return Error::success();
  };
  if (Error E = PlantAll(*Wanted))
    return E;
  return PlantAll(Heap.entries(At.Time));
}

void Diversion::takeOut() {
  for (auto [Address, Byte] : Planted)
    if (Error E = P->write(Address, Byte))
      consumeError(std::move(E)); // the program has unmapped it
  Planted.clear();
}

Expected<DivertedStop> Diversion::run(const RunOptions &How) {
  Wanted = &How.Breakpoints;
  scope_exit TakeOut([this] {
    takeOut();
    Memory->Filled = nullptr;
    Wanted = nullptr;
  });
  auto PlantKnown = [&](const auto &Addresses) -> Error {
    for (uint64_t Each : Addresses)
      if (Memory->has(Each))
        if (Error E = plant(Each & -PageSize))
          return E;
    return Error::success();
  };
  if (Error E = PlantKnown(How.Breakpoints))
    return E;
  if (Error E = PlantKnown(Heap.entries(At.Time)))
    return E;
  Memory->Filled = [this](uint64_t Page) { return plant(Page); };
  Watchdog Dog(*P, How.Cancel, How.TimeLimit);
  for (;;) {
    Expected<Tracee::Event> Event = P->resume(How.Step);
    if (!Event)
      return Event.takeError();
    if (Event->What == Tracee::Event::Interrupted) {
      DivertedStop Stop{DivertedStop::Interrupted};
      if (Dog.timedOut())
        Stop.Text = formatv("the call did not return within {0} ms; other "
                            "threads do not run meanwhile",
                            How.TimeLimit.count());
      return Stop;
    }
    Expected<std::optional<DivertedStop>> Stop = handle(*Event, How);
    if (!Stop)
      return Stop.takeError();
    if (*Stop)
      return std::move(**Stop);
  }
}

Expected<std::optional<DivertedStop>>
Diversion::handle(const Tracee::Event &Event, const RunOptions &How) {
  switch (Event.What) {
  case Tracee::Event::Signal:
    return handleSignal(Event.Info, How);
  case Tracee::Event::SystemCall: {
    Expected<KernelAnswer> Answer = answerSystemCall(
        {*Memory, At.Process, At.Thread, How.Print}, P->General);
    if (!Answer)
      return Answer.takeError();
    if (Answer->Stop)
      return std::move(Answer->Stop);
    P->General.rax = Answer->Result;
    if (How.Step)
      return DivertedStop{DivertedStop::Step};
    return std::nullopt;
  }
  case Tracee::Event::Interrupted:
  case Tracee::Event::Gone:
    break;
  }
  return createStringError("the process of the call was killed, perhaps "
                           "because no memory is left");
}

/// As LLDB describes the signal in a live process.
static std::string faultText(const siginfo_t &Info) {
  const auto Address = reinterpret_cast<uint64_t>(Info.si_addr);
  const std::string Name = answers::signalName(Info.si_signo);
  if (Info.si_signo == SIGSEGV && Info.si_code == SEGV_MAPERR)
    return formatv("signal {0}: address not mapped to object (fault "
                   "address={1:x})",
                   Name, Address);
  if (Info.si_signo == SIGSEGV && Info.si_code == SEGV_ACCERR)
    return formatv("signal {0}: invalid permissions for mapped object (fault "
                   "address={1:x})",
                   Name, Address);
  if (Info.si_signo == SIGFPE && Info.si_code == FPE_INTDIV)
    return "signal " + Name + ": integer divide by zero";
  return "signal " + Name;
}

Expected<std::optional<DivertedStop>>
Diversion::handleSignal(const siginfo_t &Info, const RunOptions &How) {
  if (Info.si_signo == SIGSEGV &&
      (Info.si_code == SEGV_ACCERR || Info.si_code == SEGV_MAPERR)) {
    const auto Address = reinterpret_cast<uint64_t>(Info.si_addr);
    // gdb lets functions return to a breakpoint on the stack, where nothing can
    // be executed.
    if (Address == P->General.rip && Planted.contains(Address))
      return DivertedStop{DivertedStop::Breakpoint};
    Expected<bool> There = Memory->populate(Address);
    if (!There)
      return There.takeError();
    if (*There)
      return std::nullopt;
  }
  if (Info.si_signo == SIGTRAP) {
    // Behind a breakpoint's instruction.
    if (Planted.contains(P->General.rip - 1)) {
      --P->General.rip;
      if (How.Breakpoints.count(P->General.rip))
        return DivertedStop{DivertedStop::Breakpoint};
      if (Error E = Heap.answer(P->General, *Memory))
        return E;
      if (How.Step)
        return DivertedStop{DivertedStop::Step};
      return std::nullopt;
    }
    if (Info.si_code == TRAP_TRACE || How.Step)
      return DivertedStop{DivertedStop::Step};
  }
  return DivertedStop{DivertedStop::Signal, Info.si_signo, faultText(Info)};
}

} // namespace chronicle::diversion
