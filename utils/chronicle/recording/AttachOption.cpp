// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/recording/AttachOption.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace chronicle::recording {

AttachOption::AttachOption(cl::SubCommand &Record)
    : Process("attach", cl::sub(Record), cl::value_desc("PID"),
              cl::desc("Not possible; says what can be done instead")) {}

std::string AttachOption::refusal() const {
  if (!Process.getNumOccurrences())
    return "";
  // Whatever was typed is shown only if it is a number.
  const bool IsNumber = !Process.empty() && all_of(Process, isDigit);
  return "a process that already runs cannot be recorded: Valgrind runs a "
         "program from its first instruction on. Start it with 'chronicle "
         "record PROGRAM'. To see how it stands now, use 'gdb -p " +
         (IsNumber ? Process.getValue() : "PID") + "' or 'lldb -p'";
}

} // namespace chronicle::recording
