// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/target/Resume.h"
#include "lldb-plugin/lldb/LldbInternals.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::target {

WaitForStops::WaitForStops(lldb::SBDebugger Debugger)
    : Debugger(Debugger), WasAsync(Debugger.GetAsync()) {
  if (WasAsync && internals::hasPrompt(Debugger.GetCommandInterpreter()))
    this->Debugger.SetAsync(false);
}

WaitForStops::~WaitForStops() { Debugger.SetAsync(WasAsync); }

std::string stopText(StringRef Printed, lldb::SBProcess Process) {
  const uint64_t Number = Process.GetProcessID();
  const std::string Resuming = formatv("Process {0} resuming", Number);
  const std::string Stopped = formatv("Process {0} stopped", Number);
  std::string Text;
  while (!Printed.empty()) {
    auto [Line, Rest] = Printed.split('\n');
    if (Line != Resuming && Line != Stopped)
      Text += Printed.take_front(Printed.size() - Rest.size());
    Printed = Rest;
  }
  return Text;
}

void runReverse(lldb::SBDebugger Debugger,
                lldb::SBCommandReturnObject &Result) {
  lldb::SBProcess Process = Debugger.GetSelectedTarget().GetProcess();
  WaitForStops Wait(Debugger);
  if (Debugger.GetAsync()) {
    lldb::SBError Failed = Process.ContinueInDirection(lldb::eRunReverse);
    if (Failed.Fail())
      Result.SetError(Failed);
    else
      Result.SetStatus(lldb::eReturnStatusSuccessContinuingNoResult);
    return;
  }
  // LLDB clears the object it is given, so this one is separate.
  lldb::SBCommandReturnObject Continued;
  Debugger.GetCommandInterpreter().HandleCommand("process continue --reverse",
                                                 Continued);
  if (const char *Output = Continued.GetOutput())
    Result.PutCString(stopText(Output, Process).c_str());
  if (Continued.Succeeded())
    Result.SetStatus(Continued.GetStatus());
  else
    Result.SetError(Continued.GetError());
}

} // namespace chronicle::target
