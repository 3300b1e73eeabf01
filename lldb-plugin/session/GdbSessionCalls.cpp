// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The session's packets by which a debugger calls a function: it allocates
/// memory, saves registers, changes registers and memory, resumes, and puts the
/// registers back.

#include "lldb-plugin/diversion/LazyBinding.h"
#include "lldb-plugin/session/GdbSession.h"
#include "lldb-plugin/session/StopReply.h"
#include "lldb-plugin/session/ThreadNames.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include <csignal>
#include <sys/mman.h>

using namespace llvm;

namespace chronicle::session {

bool GdbSession::inCall(uint32_t Thread) const {
  return Called.isPrepared() && Called.hasMemory() &&
         osThread(T, Thread) == Called.thread();
}

Expected<RegisterValues> GdbSession::valuesOf(uint32_t Thread) {
  if (inCall(Thread)) {
    Expected<diversion::MachineState> State = Called.registers();
    if (!State)
      return State.takeError();
    return [State = std::move(*State)](unsigned Number) {
      const RegisterDescription &Register = registerLayout()[Number];
      SmallVector<uint8_t, 32> Value = State.get(Register.Name);
      Value.resize(Register.Bytes);
      return Value;
    };
  }
  Expected<answers::Registers> R = T.registers(Thread, Travel.position().Time);
  if (!R)
    return R.takeError();
  return [R = *R](unsigned Number) { return registerValue(R, Number); };
}

std::string GdbSession::readRegisters(uint32_t Thread,
                                      std::optional<unsigned> Number) {
  if (Number && *Number >= registerLayout().size())
    return Debugger.failure("unknown register");
  Expected<RegisterValues> Values = valuesOf(Thread);
  if (!Values)
    return Debugger.failure(Values.takeError());
  if (Number)
    return toHex((*Values)(*Number), /*LowerCase=*/true);
  std::string Reply;
  for (unsigned I = 0, N = registerLayout().size(); I < N; ++I)
    Reply += toHex((*Values)(I), /*LowerCase=*/true);
  return Reply;
}

void GdbSession::prepareCall(uint32_t Thread) {
  const Timestamp Now = Travel.position().Time;
  Called.prepare(Now, osThread(T, Thread),
                 [this, Thread, Now](diversion::MachineState &State,
                                     diversion::MomentMemory &Memory) -> Error {
                   Expected<answers::Registers> R = T.registers(Thread, Now);
                   if (!R)
                     return R.takeError();
                   for (unsigned I = 0; I < registerLayout().size(); ++I)
                     State.set(registerLayout()[I].Name, registerValue(*R, I));
                   Expected<ArrayRef<LinkedModule>> Modules = Queries.modules();
                   if (!Modules)
                     return Modules.takeError();
                   std::vector<uint64_t> Dynamic;
                   for (const LinkedModule &Each : *Modules)
                     if (Each.Entry)
                       Dynamic.push_back(Each.Dynamic);
                   return diversion::fitLazyBinding(Memory, Dynamic);
                 });
}

void GdbSession::leaveMoment() {
  Called.leave();
  KeepsCall = false;
  std::lock_guard<std::mutex> Guard(Lock);
  Shown.Diverted = false;
}

/// `P number=value` and `G values`. Only a call can change them: LLDB saves
/// them before one, and gdb writes to memory that nothing uses (writeMemory()).
std::string GdbSession::writeRegisters(StringRef Packet, uint32_t Thread) {
  ArrayRef<RegisterDescription> Layout = registerLayout();
  const bool All = Packet.consume_front("G");
  unsigned First = 0;
  StringRef Hex = Packet.split(';').first;
  if (!All) {
    StringRef Number;
    std::tie(Number, Hex) = Hex.drop_front().split('=');
    if (Number.getAsInteger(16, First) || First >= Layout.size())
      return Debugger.failure("unknown register");
  }
  std::string Values;
  if (!tryGetFromHex(Hex, Values))
    return Debugger.failure("registers: expected hexadecimal digits");
  const bool Changes =
      Called.isPrepared() && osThread(T, Thread) == Called.thread();
  Expected<RegisterValues> Known = valuesOf(Thread);
  if (!Known)
    return Debugger.failure(Known.takeError());
  ArrayRef<uint8_t> Bytes = arrayRefFromStringRef(Values);
  for (unsigned I = First; I < Layout.size() && !Bytes.empty(); ++I) {
    ArrayRef<uint8_t> Value =
        Bytes.take_front(std::min<size_t>(Layout[I].Bytes, Bytes.size()));
    Bytes = Bytes.drop_front(Value.size());
    // gdb goes on to put registers back when all have their values again.
    if (!Changes && Value != ArrayRef<uint8_t>((*Known)(I)))
      return Debugger.failure(
          "a recorded run cannot be changed: registers keep their values");
    if (Changes)
      if (Error E = Called.setRegister(Layout[I].Name, Value))
        return Debugger.failure(std::move(E));
    if (!All)
      break;
  }
  if (Debugger.IsLldb || !Called.isUnderWay())
    return "OK";
  Expected<bool> Restored = Called.isRestored();
  if (!Restored)
    return Debugger.failure(Restored.takeError());
  // gdb gives no sign when it has shown the result, which may be on the stack.
  // Elsewhere it sees the trace from now on.
  if (*Restored) {
    Called.returned();
    KeepsCall = Called.hasMemory();
    std::lock_guard<std::mutex> Guard(Lock);
    Shown.Diverted = false;
  }
  return "OK";
}

/// Whether memory is unused: below the stack, and below what a function may use
/// there without saying so. gdb begins a call by writing there.
bool GdbSession::isBelowStack(uint64_t Address, uint64_t Length) {
  static constexpr uint64_t RedZone = 128, FarBelow = 1 << 20;
  Expected<answers::Registers> R =
      T.registers(callingThread(), Travel.position().Time);
  if (!R) {
    consumeError(R.takeError()); // the write is refused
    return false;
  }
  const uint64_t Top = R->rsp() - RedZone;
  return Length <= Top && Address <= Top - Length && Top - Address <= FarBelow;
}

/// `M address,length:hex` and `X address,length:bytes`.
std::string GdbSession::writeMemory(StringRef Packet, bool Binary) {
  auto [Where, Data] = Packet.split(':');
  auto [AddressText, LengthText] = Where.split(',');
  uint64_t Address, Length;
  std::string Bytes = Data.str();
  if (AddressText.getAsInteger(16, Address) ||
      LengthText.getAsInteger(16, Length) ||
      (!Binary && !tryGetFromHex(Data, Bytes)) || Bytes.size() != Length)
    return Debugger.failure(
        "memory write: expected an address, a length and as many bytes");
  if (!Length)
    return "OK"; // the debugger asks whether the packet is known
  if (!Debugger.IsLldb && !Called.isPrepared()) {
    // An argument such as a string is in memory that a call of malloc gave.
    Expected<std::optional<std::vector<uint8_t>>> Argument =
        Called.read(Address, 1, /*OfCall=*/false);
    if (!Argument)
      return Debugger.failure(Argument.takeError());
    if (*Argument || isBelowStack(Address, Length))
      prepareCall(callingThread());
  }
  if (Error E = Called.write(Address, arrayRefFromStringRef(Bytes)))
    return Debugger.failure(std::move(E));
  return "OK";
}

/// `_M length,permissions` and `_m address`.
std::string GdbSession::answerAllocation(StringRef Packet) {
  uint64_t Number;
  if (Packet.consume_front("_m")) {
    if (Packet.getAsInteger(16, Number) || !Called.release(Number))
      return Debugger.failure("no memory was allocated there");
    return "OK";
  }
  if (!Packet.consume_front("_M"))
    return "";
  auto [Length, Letters] = Packet.split(',');
  if (Length.getAsInteger(16, Number))
    return Debugger.failure("memory allocation: expected a length");
  int Protection = PROT_NONE;
  for (char Letter : Letters)
    Protection |= Letter == 'r'   ? PROT_READ
                  : Letter == 'w' ? PROT_WRITE
                  : Letter == 'x' ? PROT_EXEC
                                  : PROT_NONE;
  std::optional<uint64_t> Start = Called.allocate(Number, Protection);
  return Start ? formatv("{0:x-}", *Start).str()
               : Debugger.failure("no memory is left for expressions");
}

/// LLDB's QSaveRegisterState and QRestoreRegisterState, which surround a call.
std::string GdbSession::answerSavedRegisters(StringRef Name, StringRef Rest) {
  /// What the trace has. Other numbers are those of Calls.
  static constexpr unsigned OfTrace = 1;
  uint32_t Thread = Travel.position().Thread;
  const size_t Suffix = Rest.find("thread:");
  if (Suffix != StringRef::npos)
    if (uint32_t Named =
            Queries.threadNumber(Rest.substr(Suffix + 7).split(';').first))
      Thread = Named;
  if (Name == "QSaveRegisterState") {
    if (!Called.isUnderWay() || osThread(T, Thread) != Called.thread()) {
      prepareCall(Thread);
      return std::to_string(OfTrace);
    }
    Expected<unsigned> Number = Called.save();
    return Number ? std::to_string(*Number + OfTrace)
                  : Debugger.failure(Number.takeError());
  }
  unsigned Number;
  if (Rest.split(';').first.getAsInteger(10, Number))
    return Debugger.failure("QRestoreRegisterState: expected a number");
  if (Number == OfTrace) {
    Called.returned();
    KeepsCall = Called.hasMemory();
    {
      std::lock_guard<std::mutex> Guard(Lock);
      Shown.Diverted = false;
    }
    if (AfterCall)
      AfterCall();
    return "OK";
  }
  Expected<bool> Restored = Called.restore(Number - OfTrace);
  if (!Restored)
    return Debugger.failure(Restored.takeError());
  return *Restored ? "OK" : Debugger.failure("no such registers were saved");
}

/// Whether what gdb has prepared is a call: it returns to a breakpoint.
Error GdbSession::checkCall() {
  if (Debugger.IsLldb || Called.isUnderWay() || !Called.hasMemory())
    return Error::success();
  Expected<diversion::MachineState> State = Called.registers();
  if (!State)
    return State.takeError();
  Expected<std::optional<std::vector<uint8_t>>> Top =
      Called.read(State->General.rsp, 8);
  if (!Top)
    return Top.takeError();
  if (*Top && (*Top)->size() == 8 &&
      Travel.breakpoints().count(support::endian::read64le((*Top)->data())))
    return Error::success();
  return createStringError("a recorded run cannot be changed: the registers "
                           "have their recorded values again");
}

std::string GdbSession::resumeCall(StringRef Packet) {
  if (Error E = checkCall()) {
    leaveMoment();
    return stayAt(Travel.position(), std::move(E));
  }
  bool WasRunning;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    WasRunning = std::exchange(Running, true);
    Shown.Diverted = true;
  }
  Expected<Stop> Stopped =
      search([&](const answers::Cancellation &Cancel) -> Expected<Stop> {
        Error Failed = Error::success();
        auto Print = [&](StringRef Text) {
          Failed =
              joinErrors(std::move(Failed),
                         Channel.write("O" + toHex(Text, /*LowerCase=*/true)));
        };
        Called.run({isStep(Packet), Travel.breakpoints(), Cancel,
                    diversion::Calls::timeLimit(), Print});
        if (Failed)
          return Failed;
        return Stop{StopKind::Step};
      });
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Running = WasRunning;
  }
  if (!Stopped)
    return Debugger.failure(Stopped.takeError());
  return reportStop();
}

/// The stop of a call. The other threads are where they are in the trace.
Expected<std::string> GdbSession::callStopPacket() {
  using diversion::DivertedStop;
  const DivertedStop &Last = Called.lastStop();
  StopReport Report;
  Report.Where = {Travel.position().Time,
                  threadNumber(T, Called.thread(), Travel.position().Time)};
  Report.Description = Last.Text;
  switch (Last.Why) {
  case DivertedStop::Breakpoint:
    Report.Why = {StopKind::Breakpoint};
    break;
  case DivertedStop::Step:
    Report.Why = {StopKind::Step};
    break;
  case DivertedStop::Interrupted:
    Report.Why = {StopKind::Interrupted};
    break;
  case DivertedStop::Signal:
    Report.Why = {.Kind = StopKind::Signal, .Signal = Last.Number};
    break;
  case DivertedStop::Refused:
    Report.Why = {.Kind = StopKind::Signal, .Signal = SIGSYS};
    break;
  }
  if (BeforeStop)
    BeforeStop();
  if (Error E = valuesOf(Report.Where.Thread).moveInto(Report.Registers))
    return E;
  QueryThread = ResumeThread = 0;
  std::vector<answers::ThreadInfo> Threads;
  if (Debugger.IsLldb)
    if (Error E = Queries.threads().moveInto(Threads))
      return E;
  return stopReply(T, std::move(Report), Threads, Debugger);
}

} // namespace chronicle::session
