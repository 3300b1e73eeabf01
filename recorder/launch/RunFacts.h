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

/// Collects the facts about this run from the process and the machine. Texts
/// are as shownText() shows them. The exact bytes of arguments and variables
/// are in the recorded memory; those of the program's path are in
/// "program-bytes", if it is not UTF-8. Options is included unchanged.
llvm::json::Object runFacts(const ProgramFile &Program,
                            llvm::ArrayRef<const char *> Arguments,
                            llvm::json::Object Options);

/// The version of Valgrind that the recorder is linked with: "3.19.0".
llvm::StringRef valgrindVersion();

} // namespace chronicle::launch

#endif
