// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/commands/CommandSpec.h"

using namespace llvm;

namespace chronicle::commands {

const OptionSpec JsonOption = {"json", 0, nullptr,
                               "Answer in JSON, on one line."};
const OptionSpec NoJumpOption = {"no-jump", 0, nullptr,
                                 "Stay at the present moment."};
const OptionSpec FromOption = {"from", 0, "moment",
                               "Only results at or after this moment.",
                               Completes::Moment};
const OptionSpec ToOption = {"to", 0, "moment",
                             "Only results at or before this moment.",
                             Completes::Moment};
const OptionSpec LimitOption = {"limit", 'n', "count",
                                "Maximum number of results (default 20)."};
const OptionSpec ThreadOption = {
    "thread", 't', "number",
    "Only this thread, by its number in 'chronicle threads'."};
const OptionSpec OldestFirstOption = {
    "oldest-first", 0, nullptr, "Oldest result first (default newest first)."};

const OptionSpec FullOption = {
    "full", 0, nullptr,
    "Show whole names, with default template arguments, and whole lines."};

const OptionSpec *CommandSpec::option(StringRef Name) const {
  for (const OptionSpec &O : Options)
    if (Name == O.Name || (Name.size() == 1 && Name[0] == O.Short))
      return &O;
  return nullptr;
}

} // namespace chronicle::commands
