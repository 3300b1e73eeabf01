// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/tries/Condition.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace chronicle::tries {

Expected<Condition> Condition::parse(StringRef Text) {
  Condition C;
  if (Text == "failure" || Text == "crash" || Text == "hang") {
    C.What = StringSwitch<Kind>(Text)
                 .Case("crash", Kind::Crash)
                 .Case("hang", Kind::Hang)
                 .Default(Kind::Failure);
    return C;
  }
  StringRef Value = Text;
  if (Value.consume_front("status=")) {
    C.What = Kind::Status;
    if (Value.getAsInteger(10, C.Code) || C.Code < 0 || C.Code > 255)
      return createStringError("invalid --until '" + Text +
                               "': expected a status from 0 to 255");
    return C;
  }
  Value.consume_front("text=");
  if (Value.empty())
    return createStringError("--until needs 'crash', 'failure', 'hang', "
                             "'status=K' or text that the program prints");
  C.What = Kind::Text;
  C.Words = Value.str();
  return C;
}

Expected<bool> Condition::metBy(const launch::ProcessEnd &End,
                                const CapturedOutput &Output) const {
  switch (What) {
  case Kind::Failure:
    return End.TimedOut || End.BySignal || End.Code != 0;
  case Kind::Crash:
    return End.BySignal && !End.TimedOut;
  case Kind::Hang:
    return End.TimedOut;
  case Kind::Status:
    return !End.BySignal && !End.TimedOut && End.Code == Code;
  case Kind::Text:
    return Output.contains(Words);
  }
  llvm_unreachable("not a Condition::Kind");
}

std::string Condition::verb() const {
  switch (What) {
  case Kind::Failure:
    return "failed";
  case Kind::Crash:
    return "crashed";
  case Kind::Hang:
    return "hung";
  case Kind::Status:
    return "exited with status " + utostr(unsigned(Code));
  case Kind::Text:
    return "printed '" + Words + "'";
  }
  llvm_unreachable("not a Condition::Kind");
}

} // namespace chronicle::tries
