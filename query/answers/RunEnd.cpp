// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/answers/RunEnd.h"
#include "query/answers/SystemCalls.h"

using namespace llvm;

namespace chronicle::answers {

namespace {
struct KindName {
  RunEnd::Kind How;
  StringLiteral Reason;
  StringLiteral
      Text; ///< text() adds the exit status; names of signals replace it
};
} // namespace

static constexpr KindName Names[] = {
    {RunEnd::Kind::Unknown, "unknown",
     "ended in a way that the trace does not record"},
    {RunEnd::Kind::Exit, "exit", "exited with status "},
    {RunEnd::Kind::Signal, "signal", "died of a signal"},
    {RunEnd::Kind::Killed, "killed", "was killed"},
    {RunEnd::Kind::Exec, "exec", "replaced itself with another program"},
    {RunEnd::Kind::Stopped, "stopped",
     "was still running when the recording was stopped"},
    {RunEnd::Kind::Limit, "limit",
     "was still running when the recording reached its limit of superblocks"},
    {RunEnd::Kind::DiskFull, "disk-full",
     "was still running when the trace filled the disk"},
    {RunEnd::Kind::WriteError, "write-error",
     "was still running when writing the trace failed"},
    {RunEnd::Kind::StreamError, "stream-error",
     "was still running when the recorder sent invalid data"},
    {RunEnd::Kind::OutOfMemory, "out-of-memory",
     "was still running when there was no memory left to record it"},
    {RunEnd::Kind::RecorderFailed, "recorder-failed",
     "was still running when the recorder failed, and ended with it"},
};

static const KindName &nameOf(RunEnd::Kind How) {
  const KindName &Found = Names[unsigned(How)];
  assert(Found.How == How && "the table must be in the order of Kind");
  return Found;
}

RunEnd RunEnd::named(StringRef Reason, uint32_t Code) {
  for (const KindName &Each : Names)
    if (Each.Reason == Reason)
      return {Each.How, Code};
  return {};
}

RunEnd RunEnd::of(const json::Object *EndPiece) {
  if (!EndPiece)
    return {};
  return named(EndPiece->getString("reason").value_or(""),
               uint32_t(EndPiece->getInteger("code").value_or(0)));
}

std::optional<uint32_t> RunEnd::signal() const {
  if ((How == Kind::Signal || How == Kind::Killed) && Code)
    return Code;
  return std::nullopt;
}

bool RunEnd::cutShort() const {
  switch (How) {
  case Kind::Stopped:
  case Kind::Limit:
  case Kind::DiskFull:
  case Kind::WriteError:
  case Kind::StreamError:
  case Kind::OutOfMemory:
  case Kind::RecorderFailed:
    return true;
  case Kind::Unknown:
  case Kind::Exit:
  case Kind::Signal:
  case Kind::Killed:
  case Kind::Exec:
    return false;
  }
  return false;
}

StringRef RunEnd::reason() const { return nameOf(How).Reason; }

std::string RunEnd::text() const {
  if (std::optional<uint32_t> Number = signal())
    return "died of " + signalName(*Number);
  std::string Text = nameOf(How).Text.str();
  if (How == Kind::Exit)
    Text += std::to_string(Code);
  return Text;
}

json::Object toJSON(const RunEnd &End) {
  return json::Object{{"reason", End.reason()}, {"code", End.Code}};
}

} // namespace chronicle::answers
