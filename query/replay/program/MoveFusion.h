// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Joins neighbouring moves of a program.

#ifndef CHRONICLE_QUERY_REPLAY_PROGRAM_MOVEFUSION_H
#define CHRONICLE_QUERY_REPLAY_PROGRAM_MOVEFUSION_H

#include "query/replay/program/ReplayOp.h"
#include <vector>

namespace chronicle::program {

/// Joins neighbouring moves of 8 bytes, and zeros of 16 bytes, into operations
/// that do two or three at once. The flags thunk is three words, and most
/// instructions end by setting it.
void fuseMoves(std::vector<ReplayOp> &Ops);

} // namespace chronicle::program

#endif
