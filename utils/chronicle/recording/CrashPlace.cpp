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

static Expected<questions::Place> endOf(const query::Trace &T) {
  const Timestamp End = T.instructions();
  Expected<uint32_t> Thread = T.threadAt(End);
  if (!Thread)
    return Thread.takeError();
  Expected<answers::Registers> Registers = T.registers(*Thread, End);
  if (!Registers)
    return Registers.takeError();
  questions::Place Where = questions::placeAt(T, Registers->rip(), End);
  // abort() and the like are not what the user looks for.
  Expected<std::optional<questions::Place>> Caller =
      questions::callerOfSystemCode(T, Where, *Thread, End);
  if (!Caller)
    return Caller.takeError();
  return Caller->value_or(Where);
}

std::string crashPlace(StringRef TracePath, const answers::RunEnd &End) {
  if (End.How != answers::RunEnd::Kind::Signal || !isCrash(End.Code))
    return "";
  Expected<std::unique_ptr<query::Trace>> T = query::Trace::open(TracePath);
  Expected<questions::Place> Where = T ? endOf(**T) : T.takeError();
  // The place is an extra. A debugger will report what is wrong with the trace.
  if (!Where) {
    consumeError(Where.takeError());
    return "";
  }
  if (!Where->Symbol || Where->Symbol->Frames.empty() ||
      Where->Symbol->Frames.front().Function.empty())
    return "";
  const symbols::SourceFrame &Frame = Where->Symbol->Frames.front();
  std::string Text = symbols::shortName(Frame.Function);
  if (!Frame.File.empty() && Frame.Line)
    Text += formatv(" at {0}:{1}", sys::path::filename(Frame.File), Frame.Line);
  return Text;
}

} // namespace chronicle::recording
