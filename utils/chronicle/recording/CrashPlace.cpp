// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/recording/CrashPlace.h"
#include "query/Trace.h"
#include "query/questions/Place.h"
#include "query/symbols/ShortName.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <csignal>

using namespace llvm;

namespace chronicle::recording {

/// Whether the program's own code is to blame for the signal. The others come
/// from outside.
static bool isCrash(uint32_t Signal) {
  switch (Signal) {
  case SIGABRT:
  case SIGBUS:
  case SIGFPE:
  case SIGILL:
  case SIGSEGV:
  case SIGSYS:
  case SIGTRAP:
    return true;
  default:
    return false;
  }
}

/// "last at names.cpp:12"; empty if the function is not known.
static std::string nameOf(const questions::Place &Where) {
  if (!Where.Symbol || Where.Symbol->Frames.empty() ||
      Where.Symbol->Frames.front().Function.empty())
    return "";
  const symbols::SourceFrame &Frame = Where.Symbol->Frames.front();
  std::string Text = symbols::shortName(Frame.Function);
  if (!Frame.File.empty() && Frame.Line)
    Text += formatv(" at {0}:{1}", sys::path::filename(Frame.File), Frame.Line);
  return Text;
}

/// The same for an address without a name: "0x0, called by main at null.c:12".
/// A call through a null pointer leads there, and so does an overwritten return
/// address.
static Expected<std::string> wayTo(const query::Trace &T, uint64_t Pc,
                                   uint32_t Thread, Timestamp End) {
  Expected<std::vector<answers::Activation>> Stack = T.callStack(Thread, End);
  if (!Stack)
    return Stack.takeError();
  ArrayRef<answers::Activation> Callers = *Stack;
  if (Callers.empty())
    return "";
  const bool Jumped = Callers.front().Jumped.has_value();
  bool Directly = true;
  for (Callers = Callers.drop_front(); !Callers.empty();
       Callers = Callers.drop_front(), Directly = false) {
    questions::Place Where = questions::placeAt(T, Callers.front().Pc, End);
    // As for a crash in the system's code itself.
    if (std::optional<questions::Place> Outside = questions::callerOfSystemCode(
            T, Where, Callers.drop_front(), End)) {
      Directly &= Outside->Pc == Where.Pc;
      Where = std::move(*Outside);
    }
    const std::string Name = nameOf(Where);
    if (Name.empty())
      continue;
    StringRef How = "in a call by";
    if (Directly)
      How = Jumped ? "reached from" : "called by";
    return formatv("{0:x}, {1} {2}", Pc, How, Name).str();
  }
  return "";
}

static Expected<std::string> endOf(const query::Trace &T) {
  const Timestamp End = T.instructions();
  Expected<uint32_t> Thread = T.threadAt(End);
  if (!Thread)
    return Thread.takeError();
  Expected<answers::Registers> Registers = T.registers(*Thread, End);
  if (!Registers)
    return Registers.takeError();
  questions::Place Where = questions::placeAt(T, Registers->rip(), End);
  if (!Where.Symbol)
    return wayTo(T, Where.Pc, *Thread, End);
  // abort() and the like are not what the user looks for.
  Expected<std::optional<questions::Place>> Caller =
      questions::callerOfSystemCode(T, Where, *Thread, End);
  if (!Caller)
    return Caller.takeError();
  const std::string Name = nameOf(Caller->value_or(Where));
  if (!Name.empty())
    return Name;
  return wayTo(T, Where.Pc, *Thread, End);
}

std::string crashPlace(StringRef TracePath, const answers::RunEnd &End) {
  const std::optional<uint32_t> Signal = End.signal();
  if (!Signal || !isCrash(*Signal))
    return "";
  Expected<std::unique_ptr<query::Trace>> T = query::Trace::open(TracePath);
  Expected<std::string> Where = T ? endOf(**T) : T.takeError();
  if (Where)
    return *Where;
  // The place is an extra. A debugger will report what is wrong with the trace.
  consumeError(Where.takeError());
  return "";
}

} // namespace chronicle::recording
