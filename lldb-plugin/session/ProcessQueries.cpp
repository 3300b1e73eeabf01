// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/session/ProcessQueries.h"
#include "lldb-plugin/session/RegisterLayout.h"
#include "lldb-plugin/session/ThreadNames.h"
#include "query/symbols/Symbols.h"
#include "trace-format/GuestState.h"
#include "trace-format/RunPiece.h"
#include "trace-format/Stream.h"
#include "trace-format/events/Events.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <csignal>
#include <utility>

using namespace llvm;

namespace chronicle::session {

/// A debugger on the machine of the recording may take a process that has the
/// number of the recorded one for it, and read its files in /proc. No process
/// of Linux has a number above 2^22; the recorded number is still readable in
/// the sum.
static constexpr uint64_t FirstUnusedProcess = 10000000;

Expected<std::vector<answers::ThreadInfo>> ProcessQueries::threads() const {
  const Position &Now = Travel.position();
  Expected<std::vector<answers::ThreadInfo>> Threads = T.threads(Now.Time);
  if (!Threads)
    return Threads.takeError();
  if (none_of(*Threads, [&](const answers::ThreadInfo &Thread) {
        return Thread.Number == Now.Thread;
      })) {
    // A thread that stepped to its own end is gone, but the debugger waits for
    // it to stop.
    answers::ThreadInfo Last;
    Last.Number = Now.Thread;
    Last.OsThread = osThread(T, Now.Thread);
    Threads->push_back(Last);
  }
  return Threads;
}

uint32_t ProcessQueries::threadNumber(StringRef OsThread) const {
  uint64_t Os;
  if (OsThread.getAsInteger(16, Os))
    return 0;
  return session::threadNumber(T, Os, Travel.position().Time);
}

std::string ProcessQueries::answer(StringRef Name, StringRef Rest) {
  if (Name == "qSupported")
    return "PacketSize=20000;QStartNoAckMode+;qXfer:features:read+;"
           "qXfer:auxv:read+;qXfer:libraries-svr4:read+;"
           "qXfer:exec-file:read+;qXfer:siginfo:read+;vContSupported+;"
           "ReverseContinue+;"
           "ReverseStep+;QThreadSuffixSupported+;QListThreadsInStopReply+";
  if (Name == "qHostInfo")
    return formatv("triple:{0};ptrsize:8;endian:little;"
                   "watchpoint_exceptions_received:after;",
                   toHex(StringRef(TargetTriple), true));
  if (Name == "qProcessInfo")
    return formatv("pid:{0:x-};parent-pid:1;real-uid:0;real-gid:0;"
                   "effective-uid:0;effective-gid:0;triple:{1};ostype:linux;"
                   "endian:little;ptrsize:8;",
                   FirstUnusedProcess + osThread(T, 1),
                   toHex(StringRef(TargetTriple), true));
  if (Name == "qShlibInfoAddr")
    return answerLinker();
  if (Name == "qWatchpointSupportInfo")
    return "num:256;";
  if (Name == "qAttached")
    return "1";
  if (Name == "qSymbol")
    return "OK";
  if (Name == "qC")
    return formatv("QC{0:x-}", osThread(T, Travel.position().Thread));
  if (Name == "qfThreadInfo")
    return answerThreads();
  if (Name == "qsThreadInfo")
    return "l";
  if (Name == "qThreadExtraInfo")
    return toHex(("thread " + Twine(threadNumber(Rest))).str(), true);
  if (Name == "qMemoryRegionInfo")
    return answerRegion(Rest);
  if (Name == "qGetTLSAddr")
    return answerThreadLocal(Rest);
  if (Name == "qXfer")
    return answerTransfer(Rest);
  return "";
}

std::string ProcessQueries::answerLinker() {
  // Without an answer LLDB takes the program's link_map for the linker's
  // structure, and never notices libraries that come and go.
  Expected<uint64_t> Slot = Image.debugSlot();
  if (!Slot)
    return Debugger.failure(Slot.takeError());
  return *Slot ? formatv("{0:x-}", *Slot).str()
               : Debugger.failure("a static program has no list of libraries");
}

std::string ProcessQueries::answerThreads() {
  Expected<std::vector<answers::ThreadInfo>> Threads = threads();
  if (!Threads)
    return Debugger.failure(Threads.takeError());
  std::string Reply;
  for (const answers::ThreadInfo &Thread : *Threads)
    Reply += formatv("{0}{1:x-}", Reply.empty() ? "m" : ",", Thread.OsThread);
  return Reply;
}

/// The file that is mapped there. Where the dynamic linker's list does not
/// exist yet, LLDB looks for the linker by this name when it attaches, and then
/// has it twice: it has loaded it already, because our list has it at every
/// moment. So that question gets no name. Later ones get the name that the list
/// has for it: LLDB takes another name for another module, and of two modules
/// at one address it ends up with neither.
Expected<std::string> ProcessQueries::regionName(const answers::Mapping &M) {
  if (M.Path.empty())
    return "";
  Expected<uint64_t> Base = Image.linkerBase();
  if (!Base)
    return Base.takeError();
  if (Debugger.IsLldb && *Base && M.Address == *Base) {
    Expected<ArrayRef<LinkedModule>> Modules = modules();
    if (!Modules)
      return Modules.takeError();
    const bool First = !std::exchange(AskedForLinker, true);
    for (const LinkedModule &Each : *Modules)
      if (Each.Bias == *Base && !Each.Name.empty())
        return First && !Each.Entry ? "" : nameFor(Each);
  }
  return fileName(M.Path,
                  T.symbols().moduleAt(M.Address, Travel.position().Time));
}

std::string ProcessQueries::answerRegion(StringRef Packet) {
  uint64_t Address;
  if (Packet.getAsInteger(16, Address))
    return Debugger.failure("qMemoryRegionInfo: expected an address");
  Expected<std::vector<answers::Mapping>> Map = T.map(Travel.position().Time);
  if (!Map)
    return Debugger.failure(Map.takeError());
  llvm::sort(*Map, [](const answers::Mapping &A, const answers::Mapping &B) {
    return A.Address < B.Address;
  });
  uint64_t Free = 0;
  for (const answers::Mapping &M : *Map) {
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
    Expected<std::string> File = regionName(M);
    if (!File)
      return Debugger.failure(File.takeError());
    if (!File->empty())
      Reply += "name:" + toHex(*File, true) + ";";
    return Reply;
  }
  return formatv("start:{0:x-};size:{1:x-};", Free, uint64_t(0) - Free);
}

/// `thread,offset,module`: where the thread has its copy of a thread-local
/// variable. The module is the address of its entry in the linker's list.
std::string ProcessQueries::answerThreadLocal(StringRef Packet) {
  SmallVector<StringRef, 3> Parts;
  Packet.split(Parts, ',');
  uint64_t Offset, Entry;
  if (Parts.size() != 3 || Parts[1].getAsInteger(16, Offset) ||
      Parts[2].getAsInteger(16, Entry))
    return Debugger.failure(
        "qGetTLSAddr: expected a thread, an offset and a module");
  const uint32_t Thread = threadNumber(Parts[0]);
  if (!Thread)
    return Debugger.failure("no such thread exists at this moment");
  Expected<ArrayRef<LinkedModule>> Modules = modules();
  if (!Modules)
    return Debugger.failure(Modules.takeError());
  const Timestamp Now = Travel.position().Time;
  for (const LinkedModule &M : *Modules) {
    if (M.Entry != Entry)
      continue;
    symbols::SymbolAt Variable;
    Variable.Module = T.symbols().moduleAt(M.Dynamic, Now);
    if (!Variable.Module)
      break;
    Variable.Name = formatv("thread-local byte {0} of {1}", Offset,
                            Variable.Module->Info.Path);
    Variable.Address = Offset;
    Variable.ThreadLocal = true;
    Expected<uint64_t> Address = T.threadLocalAddress(Variable, Thread, Now);
    return Address ? formatv("{0:x-}", *Address).str()
                   : Debugger.failure(Address.takeError());
  }
  return Debugger.failure("no such module is loaded at this moment");
}

/// Text for an XML attribute.
static std::string quoted(StringRef Text) {
  std::string Result;
  raw_string_ostream Out(Result);
  printHTMLEscaped(Text, Out);
  return Result;
}

Expected<ArrayRef<LinkedModule>> ProcessQueries::modules() {
  // Where the dynamic linker is about to report a change, a debugger of a live
  // process that stops there knows the new list. A debugger that comes from
  // later has just seen the change undone.
  return Image.modules(Travel.position().Time + !CameBackward);
}

Expected<unsigned> ProcessQueries::moduleReads() {
  Expected<ArrayRef<LinkedModule>> Modules = modules();
  if (!Modules)
    return Modules.takeError();
  if (*Modules == ArrayRef(Reported))
    return 0;
  auto IsIn = [](ArrayRef<LinkedModule> List, const LinkedModule &M) {
    return any_of(List, [&](const LinkedModule &Each) {
      return Each.Name == M.Name && Each.Bias == M.Bias;
    });
  };
  bool Went = !all_of(Reported,
                      [&](const LinkedModule &M) { return IsIn(*Modules, M); });
  std::vector<LinkedModule> Both;
  for (const LinkedModule &M : *Modules)
    if (IsIn(Reported, M))
      Both.push_back(M);
  bool Replaced = Went && Both.size() < Modules->size();
  Reported = *Modules;
  // The first one is the program, which is always there.
  if (!Debugger.IsLldb || !Replaced || Both.empty())
    return 1;
  Staying = std::move(Both);
  return 2;
}

std::string ProcessQueries::fileName(StringRef Recorded,
                                     const state::ModuleLoad *Load) const {
  if (!Load)
    return Recorded.str();
  const symbols::ModulePlace &Place = T.symbols().placeOf(*Load);
  // The program knew its library by another name if it is a link.
  if (Place.From == files::Origin::Path && Place.IsRecorded)
    return Recorded.str();
  // Debuggers use any file that has the name, whatever its build.
  if (Place.Path.empty() && sys::path::is_absolute(Load->Info.Path))
    return (Recorded + " (as recorded)").str();
  return Place.Path.empty() ? Recorded.str() : Place.Path;
}

/// The linked module's name for the debugger.
std::string ProcessQueries::nameFor(const LinkedModule &M) {
  return Names.of(fileName(
      M.Name, T.symbols().moduleAt(M.Dynamic, Travel.position().Time)));
}

Expected<std::string> ProcessQueries::librariesDocument() {
  Expected<ArrayRef<LinkedModule>> Modules =
      Staying ? ArrayRef(*Staying) : modules();
  if (!Modules)
    return Modules.takeError();
  Reported = *Modules;
  std::string Result = "<library-list-svr4 version=\"1.0\"";
  if (!Modules->empty() && Modules->front().Entry)
    Result += formatv(" main-lm=\"{0:x}\"", Modules->front().Entry);
  Result += ">";
  // The first one is the program.
  for (const LinkedModule &M : drop_begin(*Modules, !Modules->empty()))
    Result += formatv("<library name=\"{0}\" lm=\"{1:x}\" l_addr=\"{2:x}\" "
                      "l_ld=\"{3:x}\" lmid=\"0x0\"/>",
                      quoted(nameFor(M)), M.Entry, M.Bias, M.Dynamic);
  return Result + "</library-list-svr4>";
}

/// The siginfo_t of the signal that is delivered at this moment.
Expected<std::string> ProcessQueries::signalDocument() const {
  const Position &Now = Travel.position();
  std::optional<ch_ev_signal> Last;
  if (Error E =
          T.events(uint64_t(1) << CH_EV_SIGNAL, {Now.Time, Now.Time},
                   /*Backward=*/true, [&](const answers::TimedEvent &Event) {
                     auto Signal = Event.as<events::SignalEvent>();
                     if (Signal && Signal->thread == Now.Thread)
                       Last = *Signal;
                     return !Last;
                   }))
    return E;
  if (!Last)
    return createStringError("no signal is delivered at this moment");
  siginfo_t Info = {};
  if (Last->flags & CH_SIG_FATAL) {
    // Nothing received it, so there is only what the recorder logged.
    if (!(Last->flags & CH_SIG_SYNCHRONOUS))
      return createStringError("the recorder logs only number, code and sender "
                               "of a signal that another process sent");
    Info.si_signo = int(Last->number);
    Info.si_code = int(Last->code);
    Info.si_addr = reinterpret_cast<void *>(Last->address);
    return std::string(reinterpret_cast<const char *>(&Info), sizeof(Info));
  }
  // The second argument of the handler, which begins here.
  Expected<answers::Registers> R = T.registers(Now.Thread, Now.Time);
  if (!R)
    return R.takeError();
  Expected<answers::MemoryContents> M =
      T.memory(R->word(CH_OFFSET_RSI), sizeof(Info), Now.Time);
  if (!M)
    return M.takeError();
  if (M->Mapped.empty() ||
      M->Mapped.front() != std::pair<uint64_t, uint64_t>(0, sizeof(Info)) ||
      support::endian::read32le(M->Bytes.data()) != Last->number)
    return createStringError("the handler of this signal gets no siginfo");
  return toStringRef(ArrayRef<uint8_t>(M->Bytes)).str();
}

Expected<std::string> ProcessQueries::document(StringRef Object,
                                               StringRef Annex) {
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
  if (Object == "siginfo")
    return signalDocument();
  if (Object == "exec-file") {
    std::string Program = programPath(T.reader().run());
    return fileName(Program, T.symbols().program(Program));
  }
  return createStringError("unknown object '%s'", Object.str().c_str());
}

/// `object:read:annex:offset,length`.
std::string ProcessQueries::answerTransfer(StringRef Packet) {
  auto [Object, AfterObject] = Packet.split(':');
  auto [Operation, AfterOperation] = AfterObject.split(':');
  auto [Annex, Window] = AfterOperation.rsplit(':');
  auto [OffsetText, LengthText] = Window.split(',');
  uint64_t Offset, Length;
  if (Operation != "read")
    return Debugger.failure("a recorded run cannot be changed");
  if (OffsetText.getAsInteger(16, Offset) ||
      LengthText.getAsInteger(16, Length))
    return Debugger.failure("qXfer: expected an offset and a length");
  Expected<std::string> Text = document(Object, Annex);
  if (!Text)
    return Debugger.failure(Text.takeError());
  StringRef Part = StringRef(*Text).substr(Offset, Length);
  bool More = Offset + Part.size() < Text->size();
  if (!More && Object == "libraries-svr4")
    Staying.reset();
  return ((More ? "m" : "l") + Part).str();
}

} // namespace chronicle::session
