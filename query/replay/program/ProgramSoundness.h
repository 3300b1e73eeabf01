// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Whether operations from a file may be run.

#ifndef CHRONICLE_QUERY_REPLAY_PROGRAM_PROGRAMSOUNDNESS_H
#define CHRONICLE_QUERY_REPLAY_PROGRAM_PROGRAMSOUNDNESS_H

#include "query/replay/program/ReplayOp.h"
#include "llvm/ADT/ArrayRef.h"

namespace chronicle::program {

/// Whether Ops are a program with so many exits that ends with its Next, and
/// running it touches no memory but its frame and the guest's memory.
bool isSoundProgram(llvm::ArrayRef<ReplayOp> Ops, unsigned Exits);

} // namespace chronicle::program

#endif
