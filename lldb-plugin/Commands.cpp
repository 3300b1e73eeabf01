// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/Commands.h"
#include "lldb-plugin/Command.h"
#include "lldb-plugin/LldbInternals.h"
#include "lldb-plugin/LoadedTrace.h"
#include "query/Symbols.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <csignal>
#include <cstring>

using namespace llvm;
using lldb::SBCommandReturnObject;
using lldb::SBDebugger;

namespace chronicle {
namespace {

using Arguments = ArrayRef<StringRef>;

/// A command, given to LLDB as it wants it. The function prints its answer or
/// returns why there is none.
struct Verb : lldb::SBCommandPluginInterface {
  using Function = Error (*)(SBDebugger, Arguments, SBCommandReturnObject &);
  explicit Verb(Function Run) : Run(Run) {}
  bool DoExecute(SBDebugger Debugger, char **Words,
                 SBCommandReturnObject &Result) override {
    SmallVector<StringRef, 8> All;
    for (; Words && *Words; ++Words)
      All.push_back(*Words);
    Result.SetStatus(lldb::eReturnStatusSuccessFinishResult);
    if (Error E = Run(Debugger, All, Result)) {
      Result.SetError(toString(std::move(E)).c_str());
      return false;
    }
    return true;
  }
  Function Run;
};

void print(SBCommandReturnObject &Result, const std::string &Text) {
  Result.PutCString(Text.c_str());
}

Expected<std::shared_ptr<LoadedTrace>> loaded(SBDebugger Debugger) {
  if (std::shared_ptr<LoadedTrace> L = LoadedTrace::of(Debugger))
    return L;
  return createStringError("no trace is loaded here: use 'process trace load "
                           "trace.db'");
}

/// " in function at file:line", as far as known.
std::string placeOf(const Trace &T, uint64_t Pc, Timestamp Time) {
  std::optional<CodeSymbol> Symbol = T.symbols().find(Pc, Time);
  if (!Symbol)
    return "";
  const SourceFrame &Frame = Symbol->Frames.front();
  std::string Text;
  if (!Frame.Function.empty())
    Text = " in " + Frame.Function;
  if (!Frame.File.empty())
    Text += formatv(" at {0}:{1}", sys::path::filename(Frame.File), Frame.Line);
  return Text;
}

std::string valueText(ArrayRef<uint8_t> Bytes) {
  switch (Bytes.size()) {
  case 1:
    return formatv("{0:x} ({0})", unsigned(Bytes[0]));
  case 2:
    return formatv("{0:x} ({0})", support::endian::read16le(Bytes.data()));
  case 4:
    return formatv("{0:x} ({1})", support::endian::read32le(Bytes.data()),
                   int32_t(support::endian::read32le(Bytes.data())));
  case 8:
    return formatv("{0:x} ({1})", support::endian::read64le(Bytes.data()),
                   int64_t(support::endian::read64le(Bytes.data())));
  default:
    return toHex(Bytes.take_front(32), /*LowerCase=*/true) +
           (Bytes.size() > 32 ? "..." : "");
  }
}

Error load(SBDebugger Debugger, Arguments Words,
           SBCommandReturnObject &Result) {
  StringRef Path, At = "end";
  for (size_t I = 0; I < Words.size(); ++I) {
    if (Words[I] == "--at" && I + 1 < Words.size())
      At = Words[++I];
    else if (Path.empty() && !Words[I].starts_with("--"))
      Path = Words[I];
    else
      return createStringError("'" + Words[I].str() +
                               "' is too much: give a trace, and --at MOMENT "
                               "to start elsewhere than at the end");
  }
  if (Path.empty())
    return createStringError("which trace? name the file that 'chronicle "
                             "record' wrote");
  std::vector<std::string> Warnings;
  std::string StopText;
  Expected<std::shared_ptr<LoadedTrace>> L =
      LoadedTrace::load(Debugger, Path, At, Warnings, StopText);
  if (!L)
    return L.takeError();
  const Trace &T = (*L)->trace();
  for (const std::string &Warning : Warnings)
    Result.AppendWarning(Warning.c_str());
  if (!T.reader().truncated().empty())
    Result.AppendWarning(T.reader().truncated().str().c_str());
  print(Result, formatv("Loaded {0}: {1} instructions, now at {2}.\n", Path,
                        T.instructions(), (*L)->position().Time));
  print(Result, StopText);
  return Error::success();
}

std::string endText(const TraceReader &Reader) {
  const json::Object *End = Reader.end();
  if (!End)
    return "is not known: the recording was interrupted";
  std::string Reason = End->getString("reason").value_or("unknown").str();
  int64_t Code = End->getInteger("code").value_or(0);
  if (Reason == "exit")
    return formatv("exited with status {0}", Code);
  if ((Reason == "signal" || Reason == "killed") && Code) {
    const char *Name = sigabbrev_np(int(Code));
    return formatv("died of SIG{0}",
                   Name ? Name : std::to_string(Code).c_str());
  }
  return Reason;
}

Error info(SBDebugger Debugger, Arguments Words,
           SBCommandReturnObject &Result) {
  Expected<std::shared_ptr<LoadedTrace>> L = loaded(Debugger);
  if (!L)
    return L.takeError();
  const TraceReader &Reader = (*L)->trace().reader();
  std::string Program;
  if (const json::Array *List = Reader.run().getArray("arguments"))
    for (const json::Value &Word : *List)
      Program +=
          (Program.empty() ? "" : " ") + Word.getAsString().value_or("").str();
  print(Result,
        formatv("trace:        {0}\n"
                "program:      {1}\n"
                "command:      {2}\n"
                "end:          {3}\n"
                "instructions: {4}\n"
                "now:          {5}, thread {6}\n",
                Reader.path(), Reader.run().getString("program").value_or(""),
                Program, endText(Reader), Reader.instructions(),
                (*L)->position().Time, (*L)->position().Thread));
  return Error::success();
}

Error now(SBDebugger Debugger, Arguments Words, SBCommandReturnObject &Result) {
  Expected<std::shared_ptr<LoadedTrace>> L = loaded(Debugger);
  if (!L)
    return L.takeError();
  const Trace &T = (*L)->trace();
  Position Here = (*L)->position();
  Expected<Registers> R = T.registers(Here.Thread, Here.Time);
  if (!R)
    return R.takeError();
  print(Result, formatv("time {0} of {1}, thread {2}, pc {3:x}{4}\n", Here.Time,
                        T.instructions(), Here.Thread, R->rip(),
                        placeOf(T, R->rip(), Here.Time)));
  return Error::success();
}

Error goTo(SBDebugger Debugger, Arguments Words,
           SBCommandReturnObject &Result) {
  Expected<std::shared_ptr<LoadedTrace>> L = loaded(Debugger);
  if (!L)
    return L.takeError();
  if (Words.size() != 1)
    return createStringError("where to? give a timestamp, start, end, crash, "
                             "or +n or -n instructions from now");
  Expected<Timestamp> Time = parseMoment(Words[0], (*L)->position().Time,
                                         (*L)->trace().instructions());
  if (!Time)
    return Time.takeError();
  (*L)->jump(Debugger, *Time, 0, formatv("at time {0}", *Time), Result);
  return Error::success();
}

/// What `last-write` is about: an expression, or -a address -s size.
Expected<AddressRange> watchedRange(SBDebugger Debugger, Arguments Words) {
  std::string Expression;
  uint64_t Address = 0, Size = 8;
  bool HasAddress = false;
  for (size_t I = 0; I < Words.size(); ++I) {
    if (Words[I] == "-a" && I + 1 < Words.size()) {
      if (Words[++I].getAsInteger(0, Address))
        return createStringError("-a wants an address");
      HasAddress = true;
    } else if (Words[I] == "-s" && I + 1 < Words.size()) {
      if (Words[++I].getAsInteger(0, Size) || !Size)
        return createStringError("-s wants a number of bytes");
    } else {
      Expression += (Expression.empty() ? "" : " ") + Words[I].str();
    }
  }
  if (!HasAddress) {
    if (Expression.empty())
      return createStringError("written to what? give a variable or an "
                               "expression, or -a address -s size");
    lldb::SBFrame Frame = Debugger.GetSelectedTarget()
                              .GetProcess()
                              .GetSelectedThread()
                              .GetSelectedFrame();
    lldb::SBValue Value = Frame.GetValueForVariablePath(Expression.c_str());
    if (!Value.IsValid() || Value.GetError().Fail())
      Value = Frame.EvaluateExpression(Expression.c_str());
    if (Value.GetError().Fail())
      return createStringError(Value.GetError().GetCString());
    Address = Value.GetLoadAddress();
    Size = Value.GetByteSize();
    if (Address == LLDB_INVALID_ADDRESS || !Size)
      return createStringError("'" + Expression +
                               "' is not in memory here, so nothing writes it");
  }
  if (Address + (Size - 1) < Address)
    return createStringError("the range goes beyond the address space");
  return AddressRange{Address, Address + (Size - 1)};
}

StringRef writerName(Writer By) {
  switch (By) {
  case Writer::Instruction:
    return "instruction";
  case Writer::SystemCall:
    return "system call";
  case Writer::Signal:
    return "signal delivery";
  case Writer::Mapping:
    return "change of the memory map";
  case Writer::Thread:
    return "thread creation";
  case Writer::Core:
    return "start of the process";
  case Writer::Outside:
    return "somebody outside the program";
  }
  llvm_unreachable("a new kind of writer");
}

Error lastWrite(SBDebugger Debugger, Arguments Words,
                SBCommandReturnObject &Result) {
  Expected<std::shared_ptr<LoadedTrace>> L = loaded(Debugger);
  if (!L)
    return L.takeError();
  bool Jump = true;
  SmallVector<StringRef, 8> Rest;
  for (StringRef Word : Words) {
    if (Word == "--no-jump")
      Jump = false;
    else
      Rest.push_back(Word);
  }
  Expected<AddressRange> Range = watchedRange(Debugger, Rest);
  if (!Range)
    return Range.takeError();
  const Trace &T = (*L)->trace();
  Timestamp Here = (*L)->position().Time;
  std::optional<Write> Found;
  if (Error E =
          T.writes(*Range, {0, Here}, /*Backward=*/true, [&](const Write &W) {
            if (W.By == Writer::Instruction && W.Time >= Here)
              return true;
            Found = W;
            return false;
          }))
    return E;
  if (!Found)
    return createStringError(
        formatv("nothing wrote {0:x}..{1:x} before time {2}", Range->First,
                Range->Last, Here));
  print(
      Result,
      formatv("time {0}, thread {1}: {2}{3}\n  {4:x}, {5} bytes: {6} -> {7}\n",
              Found->Time, Found->Thread, writerName(Found->By),
              Found->By == Writer::Instruction
                  ? formatv(" {0:x}{1}", Found->Pc,
                            placeOf(T, Found->Pc, Found->Time))
                        .str()
                  : "",
              Found->Address, Found->New.size(), valueText(Found->Old),
              valueText(Found->New)));
  if (!Jump)
    return Error::success();
  // Before the write: what led to it is still to be seen.
  Timestamp Before = Found->By == Writer::Instruction || !Found->Time
                         ? Found->Time
                         : Found->Time - 1;
  (*L)->jump(Debugger, Before, Found->Thread,
             formatv("before the write at time {0}", Found->Time), Result);
  return Error::success();
}

/// Run by a stop hook.
Error stopped(SBDebugger Debugger, Arguments, SBCommandReturnObject &Result) {
  Result.SetStatus(lldb::eReturnStatusSuccessFinishNoResult);
  lldb::SBProcess Process = Debugger.GetSelectedTarget().GetProcess();
  internals::resetDirection(Process);
  if (std::shared_ptr<LoadedTrace> L = LoadedTrace::of(Debugger))
    L->stopped();
  // LLDB stays in a thread that did nothing when another arrives by a jump.
  if (Process.GetSelectedThread().GetStopReason() == lldb::eStopReasonNone)
    for (uint32_t I = 0, N = Process.GetNumThreads(); I < N; ++I) {
      lldb::SBThread Thread = Process.GetThreadAtIndex(I);
      if (Thread.GetStopReason() == lldb::eStopReasonHistoryBoundary)
        Process.SetSelectedThread(Thread);
    }
  return Error::success();
}

} // namespace

bool addCommands(lldb::SBCommandInterpreter Interpreter) {
  lldb::SBCommand Group = Interpreter.AddMultiwordCommand(
      "chronicle", "Commands for going through a recorded run in time.");
  if (!Group.IsValid())
    return false;
  struct {
    const char *Name;
    Verb::Function Run;
    const char *Help, *Syntax;
  } Verbs[] = {
      {"load", load,
       "Load a recorded run as a process that goes forward and backward.",
       "chronicle load <trace.db> [--at <moment>]"},
      {"info", info, "Show what was recorded and where in it we are.",
       "chronicle info"},
      {"now", now, "Show the time, the thread and the place.", "chronicle now"},
      {"goto", goTo,
       "Go to a moment: a timestamp, start, end, crash, or +n or -n "
       "instructions from now.",
       "chronicle goto <moment>"},
      {"last-write", lastWrite,
       "Go to the last write to a variable, an expression or an address, "
       "before now, and show who wrote what.",
       "chronicle last-write [--no-jump] <expression> | -a <address> -s "
       "<size>"},
      {"_stopped", stopped, "For Chronicle's own use.", "chronicle _stopped"},
  };
  for (const auto &V : Verbs)
    if (!Group.AddCommand(V.Name, new Verb(V.Run), V.Help, V.Syntax).IsValid())
      return false;
  for (const CommandSpec &S : reverseCommands())
    if (!addCommand(Interpreter, Group, S))
      return false;
  return true;
}

} // namespace chronicle
