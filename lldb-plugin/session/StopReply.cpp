// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/session/StopReply.h"
#include "lldb-plugin/session/ThreadNames.h"
#include "query/answers/RunEnd.h"
#include "query/answers/SystemCalls.h"
#include "trace-format/events/Events.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include <csignal>

using namespace llvm;

namespace chronicle::session {

/// gdb has its own numbers for signals. Up to 31, these differ from Linux's.
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

/// Why the signal came that is delivered at that time, in the words that LLDB
/// uses for a live process. Empty if there is nothing to add to the signal.
static std::string faultText(const query::Trace &T, Timestamp Time,
                             int Signal) {
  std::optional<ch_ev_signal> Last;
  if (Error E = T.events(1ull << CH_EV_SIGNAL, {Time, Time}, /*Backward=*/true,
                         [&](const answers::TimedEvent &Event) {
                           Last = Event.as<events::SignalEvent>();
                           return !Last || int(Last->number) != Signal;
                         }))
    consumeError(std::move(E)); // the signal is known, only its reason is not
  if (!Last || int(Last->number) != Signal)
    return "";
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

/// The words for a moment that the user went to. An end of the run is shown as
/// when the run gets there.
static std::string momentText(const query::Trace &T, Timestamp Time) {
  if (Time == 0)
    return describe({StopKind::Begin});
  if (Time < T.instructions())
    return describe({.Kind = StopKind::Goto, .Time = Time});
  const auto Signal = answers::RunEnd::of(T.reader().end()).signal();
  if (!Signal)
    return describe({StopKind::End});
  const std::string Fault = faultText(T, Time, int(*Signal));
  return Fault.empty() ? "signal " + answers::signalName(*Signal) : Fault;
}

static Error appendRegisters(std::string &Reply, const query::Trace &T,
                             Position Where, RegisterValues Values = {}) {
  if (!Values) {
    Expected<answers::Registers> R = T.registers(Where.Thread, Where.Time);
    if (!R)
      return R.takeError();
    Values = [R = *R](unsigned Number) { return registerValue(R, Number); };
  }
  ArrayRef<RegisterDescription> Layout = registerLayout();
  for (unsigned I = 0; I < Layout.size(); ++I)
    if (Layout[I].InStopReply)
      Reply += formatv("{0:x-2}:{1};", I, toHex(Values(I), /*LowerCase=*/true))
                   .str();
  return Error::success();
}

static uint64_t programCounter(const RegisterValues &Values) {
  ArrayRef<RegisterDescription> Layout = registerLayout();
  const auto *Rip = find_if(
      Layout, [](const RegisterDescription &R) { return R.Name == "rip"; });
  return support::endian::read64le(Values(Rip - Layout.begin()).data());
}

static Error appendThreads(std::string &Reply, const query::Trace &T,
                           const StopReport &Report,
                           ArrayRef<answers::ThreadInfo> Threads) {
  std::string Names, Pcs;
  for (const answers::ThreadInfo &Thread : Threads) {
    uint64_t Pc;
    if (Report.Registers && Thread.Number == Report.Where.Thread) {
      Pc = programCounter(Report.Registers);
    } else {
      Expected<answers::Registers> R =
          T.registers(Thread.Number, Report.Where.Time);
      if (!R)
        return R.takeError();
      Pc = R->rip();
    }
    Names += formatv("{0}{1:x-}", Names.empty() ? "" : ",", Thread.OsThread);
    Pcs += formatv("{0}{1:x-}", Pcs.empty() ? "" : ",", Pc);
  }
  Reply += "threads:" + Names + ";thread-pcs:" + Pcs + ";";
  // The threads besides this one that have a reason to stop: none. Without this
  // LLDB asks for each thread by itself.
  Reply += "jstopinfo:" + toHex("[]", /*LowerCase=*/true) + ";";
  return Error::success();
}

static StringRef watchKey(WatchKind Kind) {
  switch (Kind) {
  case WatchKind::Write:
    return "watch";
  case WatchKind::Read:
    return "rwatch";
  case WatchKind::Access:
    return "awatch";
  }
  llvm_unreachable("there is no other kind of watchpoint");
}

/// The key of the packet that has the reason of the stop.
static std::string reasonKey(const StopReport &Report,
                             const DebuggerTraits &Debugger) {
  switch (Report.Why.Kind) {
  case StopKind::Step:
    return "reason:trace;";
  case StopKind::Breakpoint:
    return "reason:breakpoint;";
  case StopKind::Watchpoint:
    return formatv("{0}:{1:x-};", watchKey(Report.Why.Watched),
                   Report.Why.Address);
  case StopKind::Signal:
  case StopKind::Interrupted:
    return "reason:signal;";
  case StopKind::End:
    // LLDB's plans to step in and out take an end of history for a stop on
    // their way and resume, again and again. No plan goes on after an
    // exception.
    return Debugger.IsLldb && Report.CannotGoOn ? "reason:exception;"
                                                : "replaylog:end;";
  // LLDB takes this as a stop that no plan of a thread explains.
  case StopKind::Begin:
  case StopKind::Arrived:
  case StopKind::Goto:
  case StopKind::BeforeWrite:
  case StopKind::AfterWrite:
  case StopKind::BeforeRead:
  case StopKind::AfterRead:
  case StopKind::Execution:
  case StopKind::ReverseStepIn:
  case StopKind::ReverseStepOver:
  case StopKind::ReverseStepOut:
  case StopKind::ReverseStepInstruction:
    return "replaylog:begin;";
  }
  llvm_unreachable("there is no other kind of stop");
}

Expected<std::string> stopReply(const query::Trace &T, StopReport Report,
                                ArrayRef<answers::ThreadInfo> Threads,
                                const DebuggerTraits &Debugger) {
  const StopKind Kind = Report.Why.Kind;
  const int Signal = Kind == StopKind::Signal        ? Report.Why.Signal
                     : Kind == StopKind::Interrupted ? SIGINT
                                                     : SIGTRAP;
  std::string Reply = formatv("T{0:x-2}thread:{1:x-};",
                              Debugger.IsLldb ? Signal : gdbSignal(Signal),
                              osThread(T, Report.Where.Thread))
                          .str();
  if (Debugger.IsLldb)
    if (Error E = appendThreads(Reply, T, Report, Threads))
      return E;
  if (Error E = appendRegisters(Reply, T, Report.Where, Report.Registers))
    return E;
  Reply += reasonKey(Report, Debugger);
  if (Kind == StopKind::End && Debugger.IsLldb && Report.CannotGoOn)
    Report.Description = "the run ends here";
  if (Kind == StopKind::Goto)
    Report.Description = momentText(T, Report.Where.Time);
  if (Kind == StopKind::Signal && Report.Description.empty())
    Report.Description = faultText(T, Report.Where.Time, Signal);
  if (!Report.Description.empty())
    Reply +=
        "description:" + toHex(Report.Description, /*LowerCase=*/true) + ";";
  for (unsigned I = 0; I < Report.ModuleReads; ++I)
    Reply += "library:1;";
  return Reply;
}

Expected<std::string> idleThreadReply(const query::Trace &T, Position Where) {
  std::string Reply =
      formatv("T00thread:{0:x-};", osThread(T, Where.Thread)).str();
  if (Error E = appendRegisters(Reply, T, Where))
    return E;
  return Reply;
}

} // namespace chronicle::session
