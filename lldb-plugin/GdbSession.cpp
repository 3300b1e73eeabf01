// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Packets that read the process's state or move it. What only describes the
/// process is in GdbSessionQueries.cpp.

#include "lldb-plugin/GdbSession.h"
#include "lldb-plugin/RegisterLayout.h"
#include "lldb-plugin/ThreadNames.h"
#include "trace-format/Bytes.h"
#include "trace-format/Stream.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <csignal>

using namespace llvm;

namespace chronicle {

/// A reply must fit into a packet, whose size the debugger was told.
static constexpr uint64_t MostMemory = 0xff00;

Error GdbSession::start(Timestamp Time) {
  if (Error E = Travel.jump(Time))
    return E;
  std::lock_guard<std::mutex> Guard(Lock);
  Shown = Travel.position();
  LastStop = Time == T.instructions() ? Travel.endStop()
             : Time == 0              ? Stop{StopKind::Begin}
                                      : Stop{StopKind::Step};
  return Error::success();
}

Error GdbSession::serve() {
  while (!Finished) {
    Expected<std::optional<std::string>> Packet = Channel.read();
    if (!Packet)
      return Packet.takeError();
    if (!*Packet)
      return Error::success();
    std::string Reply = answer(**Packet);
    if (Error E = Channel.write(Reply))
      return E;
    if (std::exchange(StopsAcknowledging, false))
      Channel.stopAcknowledging();
  }
  return Error::success();
}

void GdbSession::jumpNext(Timestamp Time, uint32_t Thread,
                          std::string Description) {
  std::lock_guard<std::mutex> Guard(Lock);
  Next = Jump{Time, Thread, std::move(Description)};
}

void GdbSession::goBackNext(Timestamp Time, uint32_t Thread,
                            std::string Description) {
  std::lock_guard<std::mutex> Guard(Lock);
  Next = Jump{Time, Thread, std::move(Description), /*StopsOnTheWay=*/true};
}

void GdbSession::runEnded() {
  std::lock_guard<std::mutex> Guard(Lock);
  Next.reset();
  Running = WantsEnd = false;
}

bool GdbSession::isRunning() const {
  std::lock_guard<std::mutex> Guard(Lock);
  return Running;
}

void GdbSession::interrupt() {
  std::lock_guard<std::mutex> Guard(Lock);
  WantsEnd = true;
  if (Searching)
    Searching->Cancelled = true;
}

bool GdbSession::interruptedMeanwhile() {
  std::lock_guard<std::mutex> Guard(Lock);
  bool WasRunning = std::exchange(Running, true);
  return std::exchange(WantsEnd, false) && WasRunning;
}

Position GdbSession::position() const {
  std::lock_guard<std::mutex> Guard(Lock);
  return Shown;
}

std::string GdbSession::failure(StringRef Sentence) {
  // LLDB asks for its own way of saying why.
  if (ErrorStrings)
    return "E01;" + toHex(Sentence, /*LowerCase=*/true);
  return ("E." + Sentence).str();
}

std::string GdbSession::failure(Error E) {
  return failure(toString(std::move(E)));
}

std::string GdbSession::answer(StringRef Packet) {
  if (Packet.empty())
    return "";
  switch (Packet[0]) {
  case 'q':
  case 'Q':
  case 'j':
    return answerQuery(Packet);
  case 'Z':
  case 'z':
    return answerBreakpoint(Packet);
  case 'b':
    return Packet == "bc" || Packet == "bs" ? answerResume(Packet) : "";
  case 'c':
  case 'C':
  case 's':
  case 'S':
    return answerResume(Packet);
  case 'v':
    if (Packet == "vCont?")
      return "vCont;c;C;s;S";
    if (Packet.starts_with("vCont;"))
      return answerResume(Packet);
    if (Packet.starts_with("vKill")) {
      Finished = true;
      return "OK";
    }
    return "";
  case 'D':
    Finished = true;
    return "OK";
  case 'k':
    Finished = true;
    return "X09";
  default:
    return answerState(Packet);
  }
}

std::string GdbSession::answerState(StringRef Packet) {
  StringRef Rest = Packet.drop_front();
  auto [Numbers, Suffix] = Rest.split(';');
  uint32_t Thread = QueryThread ? QueryThread : Travel.position().Thread;
  if (Suffix.consume_front("thread:"))
    if (uint32_t Named =
            threadNumber(Suffix.take_until([](char C) { return C == ';'; })))
      Thread = Named;
  switch (Packet[0]) {
  case '?':
    return stopReply();
  case 'H': {
    if (Rest.empty())
      return failure("H wants an operation and a thread");
    uint32_t Named = 0;
    StringRef Name = Rest.drop_front();
    if (Name != "0" && Name != "-1") {
      Named = threadNumber(Name);
      if (!Named)
        return failure("there is no such thread now");
    }
    (Rest[0] == 'c' ? ResumeThread : QueryThread) = Named;
    return "OK";
  }
  case 'T':
    return threadNumber(Rest) ? "OK" : failure("there is no such thread now");
  case 'g': {
    Expected<Registers> R = T.registers(Thread, Travel.position().Time);
    if (!R)
      return failure(R.takeError());
    std::string Reply;
    for (unsigned I = 0, N = registerLayout().size(); I < N; ++I)
      Reply += toHex(registerValue(*R, I), /*LowerCase=*/true);
    return Reply;
  }
  case 'p': {
    unsigned Number;
    if (Numbers.getAsInteger(16, Number) || Number >= registerLayout().size())
      return failure("there is no such register");
    Expected<Registers> R = T.registers(Thread, Travel.position().Time);
    if (!R)
      return failure(R.takeError());
    return toHex(registerValue(*R, Number), /*LowerCase=*/true);
  }
  case 'm':
    return answerMemory(Rest, /*Binary=*/false);
  case 'x':
    return answerMemory(Rest, /*Binary=*/true);
  case 'G':
  case 'P':
    return failure("a recorded run cannot be changed: registers are as they "
                   "were");
  case 'M':
  case 'X':
    return failure("a recorded run cannot be changed: memory is as it was");
  case '_':
    // Not an error: LLDB takes an error to `_M` for a process that can allocate
    // but is out of memory, and then cannot evaluate any expression.
    return "";
  default:
    return "";
  }
}

std::string GdbSession::answerMemory(StringRef Packet, bool Binary) {
  auto [AddressText, LengthText] = Packet.split(',');
  uint64_t Address, Length;
  if (AddressText.getAsInteger(16, Address) ||
      LengthText.getAsInteger(16, Length))
    return failure("a memory read wants an address and a length");
  if (Binary && !Length)
    return "OK";
  Length = std::min(Length, MostMemory);
  // What wraps around the end of the address space ends there.
  if (Address + (Length - 1) < Address)
    Length = -Address;
  Expected<MemoryContents> M =
      T.memory(Address, Length, Travel.position().Time);
  if (!M)
    return failure(M.takeError());
  uint64_t Readable = 0;
  for (auto [First, Last] : M->Mapped) {
    if (First > Readable)
      break;
    Readable = std::max(Readable, Last);
  }
  if (!Readable)
    // gdb takes anything but a number here for memory.
    return ErrorStrings ? failure("no memory is mapped there now") : "E14";
  ArrayRef<uint8_t> Bytes = ArrayRef<uint8_t>(M->Bytes).take_front(Readable);
  return Binary ? toStringRef(Bytes).str() : toHex(Bytes, /*LowerCase=*/true);
}

std::string GdbSession::answerBreakpoint(StringRef Packet) {
  SmallVector<StringRef, 3> Parts;
  StringRef Arguments = Packet.drop_front().split(';').first;
  Arguments.split(Parts, ',');
  uint64_t Address, Length;
  if (Parts.size() != 3 || Parts[1].getAsInteger(16, Address) ||
      Parts[2].getAsInteger(16, Length))
    return failure("a breakpoint wants a type, an address and a length");
  bool Insert = Packet[0] == 'Z';
  if (Parts[0] == "0" || Parts[0] == "1") {
    if (Insert)
      Travel.addBreakpoint(Address);
    else
      Travel.removeBreakpoint(Address);
    return "OK";
  }
  if (Parts[0] == "2") {
    if (Insert)
      Travel.addWatchpoint(Address, Length);
    else
      Travel.removeWatchpoint(Address, Length);
    return "OK";
  }
  // gdb and LLDB each say it in their own words.
  return failure("a trace has no index of reads: watch for writes instead");
}

namespace {
struct ResumeAction {
  bool Step = false, Backward = false, Others = true;
  StringRef
      Thread; ///< that steps, as the debugger calls it; empty: present one
};
} // namespace

/// `vCont;action[:thread];…`: of several, a step decides.
static ResumeAction parseContinuation(StringRef Actions) {
  ResumeAction Result;
  SmallVector<StringRef, 4> Parts;
  Actions.split(Parts, ';', -1, /*KeepEmpty=*/false);
  bool Continues = false;
  for (StringRef Part : Parts) {
    auto [Action, Thread] = Part.split(':');
    if (Action.starts_with_insensitive("s") && !Result.Step) {
      Result.Step = true;
      Result.Thread = Thread;
    }
    Continues |= Action.starts_with_insensitive("c");
  }
  Result.Others = Continues;
  return Result;
}

std::string GdbSession::answerResume(StringRef Packet) {
  bool Interrupted = interruptedMeanwhile();
  std::optional<Jump> Jumping;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    std::swap(Jumping, Next);
  }
  Description.clear();
  if (Jumping && !Jumping->StopsOnTheWay) {
    if (Error E = Travel.jump(Jumping->Time, Jumping->Thread))
      return failure(std::move(E));
    LastStop = {StopKind::Arrived};
    CameBackward = false;
    Description = std::move(Jumping->Description);
    return stopReply();
  }

  ResumeAction Action;
  if (Packet.consume_front("vCont;"))
    Action = parseContinuation(Packet);
  else {
    Action.Backward = Packet.consume_front("b");
    Action.Step = Packet.starts_with_insensitive("s");
  }
  uint32_t Thread = Action.Thread.empty() || Action.Thread == "-1"
                        ? ResumeThread
                        : threadNumber(Action.Thread);
  if (!Thread)
    Thread = Travel.position().Thread;

  CameBackward = Action.Backward;
  if (Interrupted) {
    LastStop = {StopKind::Interrupted};
    return stopReply();
  }
  bool WasAtEnd = Travel.position().Time == T.instructions();
  Cancellation Cancel;
  auto SearchBy = [this](Cancellation *By) {
    std::lock_guard<std::mutex> Guard(Lock);
    Searching = By;
  };
  SearchBy(&Cancel);
  Expected<Stop> Stopped = [&]() -> Expected<Stop> {
    PacketChannel::InterruptWatch Watch(Channel, Cancel);
    if (Jumping && Action.Backward)
      return Travel.continueBackward(Cancel,
                                     Position{Jumping->Time, Jumping->Thread});
    if (Action.Backward)
      return Action.Step ? Travel.stepBackward(Thread, Cancel)
                         : Travel.continueBackward(Cancel);
    return Action.Step ? Travel.stepForward(Thread, Action.Others, Cancel)
                       : Travel.continueForward(Cancel);
  }();
  SearchBy(nullptr);
  if (!Stopped) {
    // A debugger that waits for a stop has no use for an error.
    Description = toString(Stopped.takeError());
    LastStop = {StopKind::Interrupted};
  } else {
    LastStop = *Stopped;
  }
  if (Jumping && Action.Backward) {
    std::lock_guard<std::mutex> Guard(Lock);
    if (LastStop.Kind == StopKind::Arrived)
      Description = std::move(Jumping->Description);
    else if (LastStop.Kind != StopKind::Interrupted && !Next)
      Next = std::move(Jumping);
  }
  CannotGoOn = WasAtEnd && LastStop.Kind == StopKind::End;
  return stopReply();
}

void GdbSession::appendRegisters(std::string &Reply, const Registers &R) {
  ArrayRef<RegisterDescription> Layout = registerLayout();
  for (unsigned I = 0; I < Layout.size(); ++I)
    if (Layout[I].InStopReply)
      Reply += formatv("{0:x-2}:{1};", I,
                       toHex(registerValue(R, I), /*LowerCase=*/true))
                   .str();
}

/// gdb has numbers of its own; up to 31 these are different from Linux's.
static int gdbSignal(int Linux) {
  static constexpr std::pair<uint8_t, uint8_t> Different[] = {
      {SIGBUS, 10},  {SIGUSR1, 30}, {SIGUSR2, 31}, {SIGCHLD, 20},
      {SIGCONT, 19}, {SIGSTOP, 17}, {SIGTSTP, 18}, {SIGURG, 16},
      {SIGIO, 23},   {SIGPWR, 32},  {SIGSYS, 12}};
  for (auto [Ours, Theirs] : Different)
    if (Linux == Ours)
      return Theirs;
  return Linux;
}

std::string GdbSession::stopReply() {
  if (BeforeStop)
    BeforeStop();
  QueryThread = ResumeThread = 0;
  const Position &Now = Travel.position();
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Shown = Now;
  }
  int Signal = LastStop.Kind == StopKind::Signal        ? LastStop.Signal
               : LastStop.Kind == StopKind::Interrupted ? SIGINT
                                                        : SIGTRAP;
  std::string Reply =
      formatv("T{0:x-2}thread:{1:x-};", IsLldb ? Signal : gdbSignal(Signal),
              osThread(T, Now.Thread))
          .str();
  if (IsLldb) {
    Expected<std::vector<ThreadInfo>> Threads = threadsNow();
    if (!Threads)
      return failure(Threads.takeError());
    std::string Names, Pcs;
    for (const ThreadInfo &Thread : *Threads) {
      Expected<Registers> R = T.registers(Thread.Number, Now.Time);
      if (!R)
        return failure(R.takeError());
      Names += formatv("{0}{1:x-}", Names.empty() ? "" : ",", Thread.OsThread);
      Pcs += formatv("{0}{1:x-}", Pcs.empty() ? "" : ",", R->rip());
    }
    Reply += "threads:" + Names + ";thread-pcs:" + Pcs + ";";
  }
  Expected<Registers> R = T.registers(Now.Thread, Now.Time);
  if (!R)
    return failure(R.takeError());
  appendRegisters(Reply, *R);
  switch (LastStop.Kind) {
  case StopKind::Step:
    Reply += "reason:trace;";
    break;
  case StopKind::Breakpoint:
    Reply += "reason:breakpoint;";
    break;
  case StopKind::Watchpoint:
    Reply += formatv("watch:{0:x-};", LastStop.Address);
    break;
  // What LLDB takes as a stop that no plan of a thread explains.
  case StopKind::Arrived:
  case StopKind::Begin:
    Reply += "replaylog:begin;";
    break;
  case StopKind::End:
    // LLDB's plans to step in and out take a boundary of history for a stop on
    // their way and resume, again and again; none goes on after an exception.
    if (IsLldb && CannotGoOn) {
      Description = "the run ends here";
      Reply += "reason:exception;";
    } else {
      Reply += "replaylog:end;";
    }
    break;
  case StopKind::Signal:
    if (Description.empty())
      Description = faultText(LastStop.Signal);
    Reply += "reason:signal;";
    break;
  case StopKind::Interrupted:
    Reply += "reason:signal;";
    break;
  }
  if (!Description.empty())
    Reply += "description:" + toHex(Description, /*LowerCase=*/true) + ";";
  // Makes LLDB ask for the modules again. It has a breakpoint where the dynamic
  // linker says that they have changed, in both directions, from which it goes
  // on by itself; but what it makes of the linker's word is right only for who
  // comes from the moment before. Not said to gdb, who would take the stop for
  // the linker's.
  if (IsLldb) {
    Expected<ArrayRef<LinkedModule>> Modules = modulesNow();
    if (!Modules)
      return failure(Modules.takeError());
    if (*Modules != ArrayRef(ModulesTold)) {
      ModulesTold = *Modules;
      Reply += "library:1;";
    }
  }
  return Reply;
}

std::string GdbSession::faultText(int Signal) {
  std::optional<ch_ev_signal> Last;
  Timestamp Now = Travel.position().Time;
  if (Error E = T.events(1ull << CH_EV_SIGNAL, {Now, Now}, /*Backward=*/true,
                         [&](const TimedEvent &Event) {
                           if (Event.Payload.size() < sizeof(ch_ev_signal))
                             return true;
                           Last = fixedPart<ch_ev_signal>(Event.Payload);
                           return int(Last->number) != Signal;
                         }))
    consumeError(std::move(E)); // the signal is known, only not its reason
  if (!Last || int(Last->number) != Signal)
    return "";
  // As LLDB says it of a living process.
  static const struct {
    int Signal;
    unsigned Code;
    const char *Text;
    bool Address;
  } Faults[] = {
      {SIGSEGV, SEGV_MAPERR, "SIGSEGV: address not mapped to object", true},
      {SIGSEGV, SEGV_ACCERR, "SIGSEGV: invalid permissions for mapped object",
       true},
      {SIGBUS, BUS_ADRALN, "SIGBUS: illegal alignment", true},
      {SIGBUS, BUS_ADRERR, "SIGBUS: illegal address", true},
      {SIGFPE, FPE_INTDIV, "SIGFPE: integer divide by zero", false},
      {SIGILL, ILL_ILLOPN, "SIGILL: illegal operand", false},
      {SIGILL, ILL_ILLOPC, "SIGILL: illegal opcode", false},
  };
  for (const auto &Fault : Faults)
    if (Fault.Signal == Signal && Fault.Code == Last->code)
      return formatv(
          "signal {0}{1}", Fault.Text,
          Fault.Address ? formatv(" (fault address={0:x})", Last->address).str()
                        : "");
  return "";
}

std::string GdbSession::threadReply(uint32_t Thread) {
  if (Thread == Travel.position().Thread)
    return stopReply();
  Expected<Registers> R = T.registers(Thread, Travel.position().Time);
  if (!R)
    return failure(R.takeError());
  std::string Reply = formatv("T00thread:{0:x-};", osThread(T, Thread)).str();
  appendRegisters(Reply, *R);
  return Reply;
}

} // namespace chronicle
