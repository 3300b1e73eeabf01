// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The run piece of a trace: what was recorded, where and how (docs/format.md,
/// "JSON pieces").

#ifndef CHRONICLE_RECORDER_LAUNCH_RUNFACTS_H
#define CHRONICLE_RECORDER_LAUNCH_RUNFACTS_H

#include "recorder/launch/ProgramFile.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"

namespace chronicle::launch {

/// Collects the facts about this run from the process and the machine. JSON
/// cannot hold arguments and variables that are not UTF-8, so such bytes are
/// replaced; the exact ones are in the recorded memory. Options is included
/// unchanged.
llvm::json::Object runFacts(const ProgramFile &Program,
                            llvm::ArrayRef<const char *> Arguments,
                            llvm::json::Object Options);

} // namespace chronicle::launch

#endif
