// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lldb-plugin/causes/StepText.h"
#include "lldb-plugin/target/Describe.h"
#include "query/registers/RegisterNames.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace chronicle::causes {

using answers::OriginKind;
using variables::OriginStepAnswer;

std::string placeName(const query::Trace &T, const answers::ValuePlace &P,
                      Timestamp At) {
  if (!P.InMemory) {
    if (variables::isOfFlags(P))
      return "the flags";
    std::string Name =
        registers::nameOf({uint32_t(P.Address), std::max(P.Size, 1u)});
    return Name.empty() ? "a register" : Name;
  }
  std::optional<symbols::SymbolAt> Global =
      T.symbols().findGlobal(P.Address, At);
  if (!Global)
    return formatv("{0:x}", P.Address);
  if (P.Address == Global->Address)
    return Global->Name;
  return formatv("{0} + {1}", Global->Name, P.Address - Global->Address);
}

std::string instructionText(lldb::SBTarget Target, uint64_t Pc) {
  lldb::SBInstructionList List =
      Target.ReadInstructions(lldb::SBAddress(Pc, Target), 1);
  if (!List.GetSize())
    return "";
  lldb::SBInstruction I = List.GetInstructionAtIndex(0);
  const char *Name = I.GetMnemonic(Target), *Operands = I.GetOperands(Target);
  return StringRef(
             formatv("{0} {1}", Name ? Name : "", Operands ? Operands : "")
                 .str())
      .trim()
      .str();
}

/// "eax = 0x24 (36), 4 bytes at 0x1fff000664 = 0x9 (9)".
static std::string operandsText(const query::Trace &T,
                                const OriginStepAnswer &S) {
  std::string Text;
  for (const answers::OriginStep::Operand &O : S.Step.Operands) {
    Text += Text.empty() ? "" : ", ";
    if (O.Place.InMemory)
      Text += formatv("{0} bytes at ", O.Place.Size);
    Text +=
        placeName(T, O.Place, S.Step.Time) + " = " + target::valueText(O.Value);
  }
  return Text;
}

static std::string mappingText(const OriginStepAnswer &S) {
  if (!S.Step.To.InMemory)
    return formatv("the system, when thread {0} started", S.Step.Thread);
  if (!S.MappedFrom || S.MappedFrom->Path.empty())
    return "the system, when the program started";
  return ("initial data of " + sys::path::filename(S.MappedFrom->Path)).str();
}

std::string stepText(const query::Trace &T, lldb::SBTarget Target,
                     const OriginStepAnswer &S, const target::Style &How) {
  const answers::OriginStep &Step = S.Step;
  const std::string Place = target::placeOf(S.Where, S.Caller, How);
  const std::string In = Place.empty() ? "" : " in " + Place;
  const std::string To =
      Step.To.Size ? placeName(T, Step.To, Step.Time) : std::string();
  if (!Step.Made)
    return "to " + To + In;
  switch (*Step.Made) {
  case OriginKind::Computed: {
    const std::string From = operandsText(T, S);
    return "computed: " + instructionText(Target, Step.Pc) + In +
           (From.empty() ? "" : ", from " + From);
  }
  case OriginKind::Constant:
    return "constant in the code: " + instructionText(Target, Step.Pc) + In;
  case OriginKind::Helper:
    return "made by the processor: " + instructionText(Target, Step.Pc) + In;
  case OriginKind::SystemCall:
    return "system call " + (S.Call ? S.Call->Text : "") +
           (Place.empty() ? "" : " from " + Place);
  case OriginKind::Signal:
    return "delivery of a signal, or the return from its handler";
  case OriginKind::Mapping:
  case OriginKind::Startup:
    return mappingText(S);
  case OriginKind::Outside:
    return "another process";
  case OriginKind::NeverWritten:
    return "never written: " + To + " is as the system gave it, zero";
  case OriginKind::Unknown:
    return "not followed: something wrote " + To +
           " that the trace does not have";
  }
  llvm_unreachable("no such origin");
}

std::optional<std::string> sourceText(lldb::SBDebugger Debugger, StringRef File,
                                      uint32_t Line) {
  lldb::SBStream Stream;
  Debugger.GetSelectedTarget()
      .GetSourceManager()
      .DisplaySourceLinesWithLineNumbers(
          lldb::SBFileSpec(File.str().c_str(), false), Line, 0, 0, "", Stream);
  if (!Stream.GetSize())
    return std::nullopt;
  StringRef Text(Stream.GetData(), Stream.GetSize());
  Text = Text.take_until([](char C) { return C == '\n'; });
  // After the number there is a tab.
  const size_t Tab = Text.find('\t');
  return (Tab == StringRef::npos ? Text : Text.drop_front(Tab + 1)).str();
}

} // namespace chronicle::causes
