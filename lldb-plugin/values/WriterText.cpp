// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/values/WriterText.h"
#include "query/json/JsonAnswers.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::values {

std::string functionOf(const query::Trace &T, const answers::Activation &Call) {
  std::optional<symbols::CodeSymbol> Symbol =
      T.symbols().find(Call.Callee, Call.Entry);
  std::string Name = Symbol ? Symbol->Frames.back().Function : "";
  return Name.empty() ? jsonapi::hexNumber(Call.Callee) : Name;
}

std::string writerText(answers::Writer By, uint64_t Pc, StringRef Place,
                       const std::optional<questions::SystemCall> &Call) {
  switch (By) {
  case answers::Writer::Instruction:
    // A place in no module begins with the address.
    if (Place.starts_with(jsonapi::hexNumber(Pc) + " <- "))
      return ("instruction " + Place).str();
    return formatv("instruction {0:x}{1}{2}", Pc, Place.empty() ? "" : " in ",
                   Place);
  case answers::Writer::SystemCall:
    return formatv("system call {0}{1}{2}", Call ? Call->Text : "",
                   Place.empty() ? "" : " from ", Place);
  case answers::Writer::Signal:
    return "delivery of a signal";
  case answers::Writer::Thread:
    return "start or end of a thread";
  case answers::Writer::Core:
    return "the system, when the program started";
  case answers::Writer::Outside:
    return "another process";
  case answers::Writer::Mapping:
    break;
  }
  llvm_unreachable("a mapping has a text of its own");
}

} // namespace chronicle::values
