// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Packets that ask what kind of process this is: features, threads, the
/// program's files and memory regions.

#include "lldb-plugin/GdbSession.h"
#include "lldb-plugin/RegisterLayout.h"
#include "lldb-plugin/ThreadNames.h"
#include "query/Symbols.h"
#include "trace-format/Stream.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle {

static constexpr const char *TripleText = "x86_64-pc-linux-gnu";

Expected<std::vector<ThreadInfo>> GdbSession::threadsNow() {
  const Position &Now = Travel.position();
  Expected<std::vector<ThreadInfo>> Threads = T.threads(Now.Time);
  if (!Threads)
    return Threads.takeError();
  if (none_of(*Threads, [&](const ThreadInfo &Thread) {
        return Thread.Number == Now.Thread;
      })) {
    // At the very end the last one has exited, but it is what there is to see.
    ThreadInfo Last;
    Last.Number = Now.Thread;
    Last.OsThread = osThread(T, Now.Thread);
    Threads->push_back(Last);
  }
  return Threads;
}

uint32_t GdbSession::threadNumber(StringRef OsThread) {
  uint64_t Os;
  if (OsThread.getAsInteger(16, Os))
    return 0;
  return chronicle::threadNumber(T, Os, Travel.position().Time);
}

uint64_t GdbSession::processId() { return osThread(T, 1); }

std::string GdbSession::answerSupported() {
  return "PacketSize=20000;QStartNoAckMode+;qXfer:features:read+;"
         "qXfer:auxv:read+;qXfer:libraries-svr4:read+;qXfer:exec-file:read+;"
         "vContSupported+;ReverseContinue+;ReverseStep+;"
         "QThreadSuffixSupported+;QListThreadsInStopReply+";
}

std::string GdbSession::answerQuery(StringRef Packet) {
  StringRef Name = Packet.take_until(
      [](char C) { return C == ':' || C == ',' || C == ';'; });
  StringRef Rest = Packet.drop_front(Name.size())
                       .drop_front(Packet.size() > Name.size() ? 1 : 0);
  if (Name == "qSupported")
    return answerSupported();
  if (Name == "QStartNoAckMode") {
    StopsAcknowledging = true;
    return "OK";
  }
  if (Name == "QThreadSuffixSupported" || Name == "QListThreadsInStopReply") {
    IsLldb = true;
    return "OK";
  }
  if (Name == "QEnableErrorStrings") {
    ErrorStrings = true;
    return "OK";
  }
  if (Name == "qHostInfo")
    return formatv("triple:{0};ptrsize:8;endian:little;"
                   "watchpoint_exceptions_received:after;",
                   toHex(StringRef(TripleText), true));
  if (Name == "qProcessInfo")
    return formatv("pid:{0:x-};parent-pid:1;real-uid:0;real-gid:0;"
                   "effective-uid:0;effective-gid:0;triple:{1};ostype:linux;"
                   "endian:little;ptrsize:8;",
                   processId(), toHex(StringRef(TripleText), true));
  if (Name == "qShlibInfoAddr") {
    // Without it LLDB takes the program's link_map for the linker's structure,
    // and never notices libraries that come and go.
    Expected<uint64_t> Slot = Image.debugSlot();
    if (!Slot)
      return failure(Slot.takeError());
    return *Slot ? formatv("{0:x-}", *Slot).str()
                 : failure("a static program has no list of libraries");
  }
  if (Name == "qWatchpointSupportInfo")
    return "num:256;";
  if (Name == "qAttached")
    return "1";
  if (Name == "qSymbol")
    return "OK";
  if (Name == "qC")
    return formatv("QC{0:x-}", osThread(T, Travel.position().Thread));
  if (Name == "qfThreadInfo") {
    Expected<std::vector<ThreadInfo>> Threads = threadsNow();
    if (!Threads)
      return failure(Threads.takeError());
    std::string Reply;
    for (const ThreadInfo &Thread : *Threads)
      Reply += formatv("{0}{1:x-}", Reply.empty() ? "m" : ",", Thread.OsThread);
    return Reply;
  }
  if (Name == "qsThreadInfo")
    return "l";
  if (Name.consume_front("qThreadStopInfo")) {
    uint32_t Thread = threadNumber(Name);
    return Thread ? threadReply(Thread)
                  : failure("there is no such thread now");
  }
  if (Name == "qThreadExtraInfo") {
    uint32_t Thread = threadNumber(Rest);
    return toHex(("thread " + Twine(Thread)).str(), true);
  }
  if (Name == "qMemoryRegionInfo")
    return answerRegion(Rest);
  if (Name == "qXfer")
    return answerTransfer(Rest);
  if (Name == "qRcmd")
    return answerMonitor(Rest);
  return "";
}

std::string GdbSession::answerRegion(StringRef Packet) {
  uint64_t Address;
  if (Packet.getAsInteger(16, Address))
    return failure("a region is asked for by an address");
  Expected<std::vector<Mapping>> Map = T.map(Travel.position().Time);
  if (!Map)
    return failure(Map.takeError());
  llvm::sort(*Map, [](const Mapping &A, const Mapping &B) {
    return A.Address < B.Address;
  });
  uint64_t Free = 0;
  for (const Mapping &M : *Map) {
    if (Address < M.Address)
      return formatv("start:{0:x-};size:{1:x-};", Free, M.Address - Free);
    Free = M.Address + M.Length;
    if (Address >= Free)
      continue;
    std::string Reply =
        formatv("start:{0:x-};size:{1:x-};permissions:{2}{3}{4};", M.Address,
                M.Length, M.Protection & CH_PROT_READ ? "r" : "",
                M.Protection & CH_PROT_WRITE ? "w" : "",
                M.Protection & CH_PROT_EXEC ? "x" : "");
    if (!M.Path.empty())
      Reply += "name:" + toHex(M.Path, true) + ";";
    return Reply;
  }
  return formatv("start:{0:x-};size:{1:x-};", Free, uint64_t(0) - Free);
}

/// Text for an XML attribute.
static std::string quoted(StringRef Text) {
  std::string Result;
  raw_string_ostream Out(Result);
  printHTMLEscaped(Text, Out);
  return Result;
}

Expected<ArrayRef<LinkedModule>> GdbSession::modulesNow() {
  // Where the dynamic linker is about to say that they have changed, a living
  // debugger, stopped, knows it already. Coming from later it has just been
  // undone.
  return Image.modules(Travel.position().Time + !CameBackward);
}

Expected<std::string> GdbSession::librariesDocument() {
  Expected<ArrayRef<LinkedModule>> Modules = modulesNow();
  if (!Modules)
    return Modules.takeError();
  std::string Result = "<library-list-svr4 version=\"1.0\"";
  if (!Modules->empty() && Modules->front().Entry)
    Result += formatv(" main-lm=\"{0:x}\"", Modules->front().Entry);
  Result += ">";
  // The first is the program.
  for (const LinkedModule &M : drop_begin(*Modules, !Modules->empty())) {
    // LLDB takes whatever file has that name: it gets a name that none has.
    const ModuleLoad *Load =
        T.symbols().moduleAt(M.Dynamic, Travel.position().Time);
    bool Wrong = IsLldb && !AnyBuild && Load && !T.symbols().isRecorded(*Load);
    Result += formatv("<library name=\"{0}{1}\" lm=\"{2:x}\" l_addr=\"{3:x}\" "
                      "l_ld=\"{4:x}\" lmid=\"0x0\"/>",
                      quoted(M.Name), Wrong ? " (as recorded)" : "", M.Entry,
                      M.Bias, M.Dynamic);
  }
  return Result + "</library-list-svr4>";
}

Expected<std::string> GdbSession::document(StringRef Object, StringRef Annex) {
  if (Object == "features" && Annex == "target.xml")
    return targetDescription().str();
  if (Object == "auxv") {
    Expected<ArrayRef<uint8_t>> Vector = Image.auxiliaryVector();
    if (!Vector)
      return Vector.takeError();
    return toStringRef(*Vector).str();
  }
  if (Object == "libraries-svr4")
    return librariesDocument();
  if (Object == "exec-file")
    return T.reader().run().getString("program").value_or("").str();
  return createStringError("there is nothing of that name");
}

/// `object:read:annex:offset,length`.
std::string GdbSession::answerTransfer(StringRef Packet) {
  auto [Object, AfterObject] = Packet.split(':');
  auto [Operation, AfterOperation] = AfterObject.split(':');
  auto [Annex, Window] = AfterOperation.rsplit(':');
  auto [OffsetText, LengthText] = Window.split(',');
  uint64_t Offset, Length;
  if (Operation != "read")
    return failure("a recorded run cannot be changed");
  if (OffsetText.getAsInteger(16, Offset) ||
      LengthText.getAsInteger(16, Length))
    return failure("a transfer wants an offset and a length");
  Expected<std::string> Text = document(Object, Annex);
  if (!Text)
    return failure(Text.takeError());
  StringRef Part = StringRef(*Text).substr(Offset, Length);
  bool More = Offset + Part.size() < Text->size();
  return ((More ? "m" : "l") + Part).str();
}

/// What a person types after `monitor` in gdb, `process plugin packet monitor`
/// in LLDB.
std::string GdbSession::answerMonitor(StringRef Hex) {
  std::string Command;
  if (!tryGetFromHex(Hex, Command))
    return failure("the command is not in hexadecimal");
  StringRef Text = StringRef(Command).trim();
  std::string Answer;
  if (Text == "now") {
    const Position &Now = Travel.position();
    Answer = formatv("time {0} of {1}, thread {2}\n", Now.Time,
                     T.instructions(), Now.Thread);
  } else if (Text.consume_front("goto ")) {
    Timestamp Time = T.instructions();
    if (Text != "end" && Text.getAsInteger(0, Time))
      return failure("goto wants a timestamp or end");
    if (Time > T.instructions())
      return failure(formatv("the run ends at {0}", T.instructions()).str());
    jumpNext(Time, 0, formatv("at time {0}", Time));
    Answer = "the next continue or step, in any direction, goes there\n";
  } else {
    Answer = "monitor now: shows the time\n"
             "monitor goto TIME|end: the next continue or step goes there\n";
  }
  return toHex(Answer, true);
}

} // namespace chronicle
