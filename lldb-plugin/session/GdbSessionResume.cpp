// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The session's packets that run the program, and what they answer when it
/// stops.

#include "lldb-plugin/session/GdbSession.h"
#include "lldb-plugin/session/StopReply.h"
#include "lldb-plugin/session/ThreadNames.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::session {

namespace {
struct ResumeAction {
  bool Step = false, Backward = false;
  bool Others = true; ///< other threads run too
  /// The debugger's name of the thread that steps; empty: the present one.
  StringRef Thread;
};
} // namespace

/// `vCont;action[:thread];…`. Of several actions, a step takes precedence.
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

static ResumeAction parseResume(StringRef Packet) {
  if (Packet.consume_front("vCont;"))
    return parseContinuation(Packet);
  ResumeAction Result;
  Result.Backward = Packet.consume_front("b");
  Result.Step = Packet.starts_with_insensitive("s");
  return Result;
}

bool GdbSession::isStep(StringRef Packet) { return parseResume(Packet).Step; }

std::string GdbSession::answerResume(StringRef Packet) {
  if (Called.isPrepared()) {
    bool Moves = Packet.starts_with("b");
    {
      std::lock_guard<std::mutex> Guard(Lock);
      Moves |= Next.has_value();
    }
    if (!Moves)
      return resumeCall(Packet);
  }
  leaveMoment();
  if (std::exchange(OwesStop, false))
    return reportStop();
  std::string Reply = resume(Packet);
  if (Debugger.IsLldb)
    return Reply;
  // gdb reads the list of modules again at a stop that says that it changed.
  // gdb does not show that stop, but resumes from it by itself.
  Expected<unsigned> Reads = Queries.moduleReads();
  if (!Reads)
    return Debugger.failure(Reads.takeError());
  OwesStop = *Reads != 0;
  return OwesStop ? formatv("T05thread:{0:x-};library:1;",
                            osThread(T, Travel.position().Thread))
                        .str()
                  : Reply;
}

std::string GdbSession::resume(StringRef Packet) {
  bool Interrupted = interruptedMeanwhile();
  std::optional<Jump> Jumping;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    std::swap(Jumping, Next);
  }
  Description.clear();
  const Position Before = Travel.position();
  if (Jumping && !Jumping->StopsOnTheWay) {
    if (Error E = Travel.jump(Jumping->To.Time, Jumping->To.Thread))
      return stayAt(Before, std::move(E));
    arrive(*Jumping);
    Queries.setDirection(/*Backward=*/false);
    return reportArrival(Before);
  }

  ResumeAction Action = parseResume(Packet);
  uint32_t Thread = Action.Thread.empty() || Action.Thread == "-1"
                        ? ResumeThread
                        : Queries.threadNumber(Action.Thread);
  if (!Thread)
    Thread = Travel.position().Thread;
  Queries.setDirection(Action.Backward);
  if (Interrupted) {
    LastStop = {StopKind::Interrupted};
    return reportStop();
  }
  bool WasAtEnd = Travel.position().Time == T.instructions();
  Expected<Stop> Stopped =
      search([&](const answers::Cancellation &Cancel) -> Expected<Stop> {
        if (Jumping && Action.Backward)
          return Travel.continueBackward(Cancel, Jumping->To);
        if (Action.Backward)
          return Action.Step ? Travel.stepBackward(Thread, Cancel)
                             : Travel.continueBackward(Cancel);
        return Action.Step ? Travel.stepForward(Thread, Action.Others, Cancel)
                           : Travel.continueForward(Cancel);
      });
  if (!Stopped)
    return stayAt(Before, Stopped.takeError());
  LastStop = *Stopped;
  if (Jumping && Action.Backward) {
    std::lock_guard<std::mutex> Guard(Lock);
    if (LastStop.Kind == StopKind::Arrived)
      arrive(*Jumping);
    else if (LastStop.Kind != StopKind::Interrupted && !Next)
      Next = Jumping;
  }
  CannotGoOn = WasAtEnd && LastStop.Kind == StopKind::End;
  return reportArrival(Before);
}

/// A debugger that waits for a stop cannot handle an error reply, so it gets a
/// stop where it was before.
std::string GdbSession::stayAt(Position Before, Error Why) {
  Description = toString(std::move(Why));
  LastStop = {StopKind::Interrupted};
  if (Error E = Travel.jump(Before.Time, Before.Thread))
    return Debugger.failure(std::move(E));
  return reportStop();
}

/// Reports the stop at the present moment, which may be one that cannot be
/// reached.
std::string GdbSession::reportArrival(Position Before) {
  Expected<std::string> Reply = stopPacket();
  return Reply ? *Reply : stayAt(Before, Reply.takeError());
}

void GdbSession::arrive(const Jump &By) {
  LastStop = By.Why;
  Description = describe(By.Why);
}

Expected<Stop> GdbSession::search(
    function_ref<Expected<Stop>(const answers::Cancellation &)> Run) {
  answers::Cancellation Cancel;
  auto SearchBy = [this](answers::Cancellation *By) {
    std::lock_guard<std::mutex> Guard(Lock);
    Searching = By;
  };
  SearchBy(&Cancel);
  Expected<Stop> Result = [&] {
    PacketChannel::InterruptWatch Watch(Channel, Cancel);
    return Run(Cancel);
  }();
  SearchBy(nullptr);
  return Result;
}

Expected<std::string> GdbSession::stopPacket() {
  if (BeforeStop)
    BeforeStop();
  QueryThread = ResumeThread = 0;
  StopReport Report{LastStop, Travel.position(), Description, CannotGoOn};
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Shown = Report.Where;
  }
  std::vector<answers::ThreadInfo> Threads;
  if (Debugger.IsLldb) {
    if (Error E = Queries.threads().moveInto(Threads))
      return E;
    // LLDB has a breakpoint where the dynamic linker reports that the modules
    // have changed, in both directions, and continues from it by itself. What
    // it reads from the linker there is right only if it came from the moment
    // before, so it is made to ask for the modules. gdb would take the stop for
    // the linker's.
    if (Error E = Queries.moduleReads().moveInto(Report.ModuleReads))
      return E;
  }
  return stopReply(T, std::move(Report), Threads, Debugger);
}

} // namespace chronicle::session
