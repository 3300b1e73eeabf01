// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What one can do next at a moment.

#ifndef CHRONICLE_LLDB_PLUGIN_COMMANDS_NEXTSTEPS_H
#define CHRONICLE_LLDB_PLUGIN_COMMANDS_NEXTSTEPS_H

#include "lldb-plugin/target/LoadedTrace.h"
#include <string>
#include <vector>

namespace chronicle::commands {

/// A command that can be typed as it is, and what it is good for.
struct NextStep {
  std::string Command;
  std::string Purpose; ///< follows the command, without a full stop
};

/// The commands that are of use at the present moment, the best one first. They
/// depend on where it is: at a crash, at an end of the run, at a breakpoint, or
/// anywhere else. Null: no trace is loaded.
std::vector<NextStep> nextSteps(const target::LoadedTrace *Loaded);

/// The address that the program could not read, write or run when it was
/// killed. Nothing: it was killed for another reason.
std::optional<uint64_t> faultAddress(const query::Trace &T);

} // namespace chronicle::commands

#endif
