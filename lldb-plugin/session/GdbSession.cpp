// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/session/GdbSession.h"
#include "lldb-plugin/session/StopReply.h"
#include "lldb-plugin/session/ThreadNames.h"
#include "query/MomentText.h"
#include "trace-format/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::session {

/// A reply must fit into a packet of the size that qSupported announces.
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

void GdbSession::jumpNext(Position To, Stop Why) {
  std::lock_guard<std::mutex> Guard(Lock);
  Next = Jump{To, Why};
}

void GdbSession::goBackNext(Position To, Stop Why) {
  std::lock_guard<std::mutex> Guard(Lock);
  Next = Jump{To, Why, /*StopsOnTheWay=*/true};
}

void GdbSession::runEnded() {
  std::lock_guard<std::mutex> Guard(Lock);
  Next.reset();
  Running = WantsEnd = false;
}

bool GdbSession::interrupt() {
  std::lock_guard<std::mutex> Guard(Lock);
  if (!Running)
    return false;
  WantsEnd = true;
  if (Searching)
    Searching->Cancelled = true;
  return true;
}

void GdbSession::interruptNext() {
  std::lock_guard<std::mutex> Guard(Lock);
  WantsEnd = true;
}

bool GdbSession::forgetInterrupt() {
  std::lock_guard<std::mutex> Guard(Lock);
  if (Running)
    return false;
  WantsEnd = false;
  return true;
}

bool GdbSession::isInterrupted() const {
  std::lock_guard<std::mutex> Guard(Lock);
  return WantsEnd;
}

bool GdbSession::interruptedMeanwhile() {
  std::lock_guard<std::mutex> Guard(Lock);
  Running = true;
  return std::exchange(WantsEnd, false);
}

Position GdbSession::position() const {
  std::lock_guard<std::mutex> Guard(Lock);
  return Shown;
}

std::string GdbSession::answer(StringRef Packet) {
  if (Packet.empty())
    return "";
  if (!KeepsCall && Called.hasMemory() && !Called.isPrepared())
    Called.end();
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
  uint32_t Thread = callingThread();
  if (Suffix.consume_front("thread:"))
    if (uint32_t Named = Queries.threadNumber(
            Suffix.take_until([](char C) { return C == ';'; })))
      Thread = Named;
  switch (Packet[0]) {
  case '?':
    return reportStop();
  case 'H': {
    if (Rest.empty())
      return Debugger.failure("H: expected an operation and a thread");
    uint32_t Named = 0;
    StringRef Name = Rest.drop_front();
    if (Name != "0" && Name != "-1") {
      Named = Queries.threadNumber(Name);
      if (!Named)
        return Debugger.failure("no such thread exists at this moment");
    }
    (Rest[0] == 'c' ? ResumeThread : QueryThread) = Named;
    return "OK";
  }
  case 'T':
    return Queries.threadNumber(Rest)
               ? "OK"
               : Debugger.failure("no such thread exists at this moment");
  case 'g':
    return readRegisters(Thread, std::nullopt);
  case 'p': {
    unsigned Number;
    return Numbers.getAsInteger(16, Number)
               ? Debugger.failure("unknown register")
               : readRegisters(Thread, Number);
  }
  case 'm':
    return answerMemory(Rest, /*Binary=*/false);
  case 'x':
    return answerMemory(Rest, /*Binary=*/true);
  case 'G':
  case 'P':
    return writeRegisters(Packet, Thread);
  case 'M':
  case 'X':
    return writeMemory(Rest, /*Binary=*/Packet[0] == 'X');
  case '_':
    return answerAllocation(Packet);
  default:
    return "";
  }
}

std::string GdbSession::answerMemory(StringRef Packet, bool Binary) {
  auto [AddressText, LengthText] = Packet.split(',');
  uint64_t Address, Length;
  if (AddressText.getAsInteger(16, Address) ||
      LengthText.getAsInteger(16, Length))
    return Debugger.failure("memory read: expected an address and a length");
  if (Binary && !Length)
    return "OK";
  Length = std::min(Length, MostMemory);
  // A range that wraps around the end of the address space is cut there.
  if (Address + (Length - 1) < Address)
    Length = -Address;
  Expected<std::optional<std::vector<uint8_t>>> Diverted =
      Called.read(Address, Length, showsCall(Address, Length));
  if (!Diverted)
    return Debugger.failure(Diverted.takeError());
  if (*Diverted && !(*Diverted)->empty())
    return Binary ? toStringRef(**Diverted).str()
                  : toHex(**Diverted, /*LowerCase=*/true);
  Expected<answers::MemoryContents> M =
      T.memory(Address, Length, Travel.position().Time);
  if (!M)
    return Debugger.failure(M.takeError());
  uint64_t Readable = 0;
  for (auto [First, Last] : M->Mapped) {
    if (First > Readable)
      break;
    Readable = std::max(Readable, Last);
  }
  if (!Readable)
    // gdb takes any reply but an error number for the memory's contents.
    return Debugger.WantsErrorText
               ? Debugger.failure("no memory is mapped there at this moment")
               : "E14";
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
    return Debugger.failure(
        "breakpoint: expected a type, an address and a length");
  bool Insert = Packet[0] == 'Z';
  if (Parts[0] == "0" || Parts[0] == "1") {
    if (Insert)
      Travel.addBreakpoint(Address);
    else
      Travel.removeBreakpoint(Address);
    return "OK";
  }
  static constexpr std::pair<StringRef, WatchKind> Kinds[] = {
      {"2", WatchKind::Write},
      {"3", WatchKind::Read},
      {"4", WatchKind::Access}};
  for (auto [Type, Kind] : Kinds) {
    if (Parts[0] != Type)
      continue;
    if (Insert)
      Travel.addWatchpoint({Address, Length, Kind});
    else
      Travel.removeWatchpoint({Address, Length, Kind});
    return "OK";
  }
  return ""; // a type that is not known
}

std::string GdbSession::answerQuery(StringRef Packet) {
  StringRef Name = Packet.take_until(
      [](char C) { return C == ':' || C == ',' || C == ';'; });
  StringRef Rest = Packet.drop_front(Name.size())
                       .drop_front(Packet.size() > Name.size() ? 1 : 0);
  if (Name == "QStartNoAckMode") {
    StopsAcknowledging = true;
    return "OK";
  }
  if (Name == "QThreadSuffixSupported" || Name == "QListThreadsInStopReply") {
    Debugger.IsLldb = true;
    return "OK";
  }
  if (Name == "QEnableErrorStrings") {
    Debugger.WantsErrorText = true;
    return "OK";
  }
  if (Name == "QSaveRegisterState" || Name == "QRestoreRegisterState")
    return answerSavedRegisters(Name, Rest);
  if (Name == "qRcmd")
    return answerMonitor(Rest);
  if (!Name.consume_front("qThreadStopInfo"))
    return Queries.answer(Name, Rest);
  uint32_t Thread = Queries.threadNumber(Name);
  if (!Thread)
    return Debugger.failure("no such thread exists at this moment");
  if (Called.isUnderWay() ? osThread(T, Thread) == Called.thread()
                          : Thread == Travel.position().Thread)
    return reportStop();
  Expected<std::string> Reply =
      idleThreadReply(T, {Travel.position().Time, Thread});
  return Reply ? *Reply : Debugger.failure(Reply.takeError());
}

/// The commands that a user types after `monitor` in gdb, and after `process
/// plugin packet monitor` in LLDB.
std::string GdbSession::answerMonitor(StringRef Hex) {
  std::string Command;
  if (!tryGetFromHex(Hex, Command))
    return Debugger.failure("qRcmd: expected a command in hexadecimal");
  StringRef Text = StringRef(Command).trim();
  std::string Answer;
  if (Text == "now") {
    const Position &Now = Travel.position();
    Answer = formatv("time {0} of {1}, thread {2}\n", groupedDigits(Now.Time),
                     groupedDigits(T.instructions()), Now.Thread);
  } else if (Text.consume_front("goto ")) {
    Expected<std::optional<Timestamp>> Time =
        query::parseMoment(T, Text, Travel.position().Time);
    if (!Time)
      return Debugger.failure(Time.takeError());
    if (!*Time)
      return Debugger.failure(query::invalidMoment(Text, "+n or -n"));
    jumpNext({**Time, 0}, {.Kind = StopKind::Goto, .Time = **Time});
    Answer = "the next continue or step, in any direction, goes there\n";
  } else {
    Answer = "monitor now: show the time\n"
             "monitor goto TIME|PERCENT%|start|end|crash|+N|-N: make the next "
             "continue or step go there\n";
  }
  return toHex(Answer, true);
}

} // namespace chronicle::session
