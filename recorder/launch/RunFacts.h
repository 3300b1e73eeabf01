// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The run piece: what was recorded, where and how (docs/format.md, "JSON
/// pieces").

#ifndef CHRONICLE_RECORDER_LAUNCH_RUNFACTS_H
#define CHRONICLE_RECORDER_LAUNCH_RUNFACTS_H

#include "recorder/launch/ProgramFile.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"

namespace chronicle {

/// Gathers the facts about this run from the process and the machine. Bytes of
/// arguments and environment that are not UTF-8 are replaced, as JSON demands;
/// the exact ones are in the recorded memory. Options is kept as it is.
llvm::json::Object runFacts(const ProgramFile &Program,
                            llvm::ArrayRef<const char *> Arguments,
                            llvm::json::Object Options);

} // namespace chronicle

#endif
