// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The helpers of ReplayHelpers.def: what VEX's amd64 front end leaves to C
/// functions, above all the flags (FlagHelpers.cpp). They give the same results
/// as Valgrind's, without Valgrind.

#ifndef CHRONICLE_QUERY_REPLAY_OPERATIONS_HELPERS_H
#define CHRONICLE_QUERY_REPLAY_OPERATIONS_HELPERS_H

#include <cstdint>

namespace chronicle::operations {
namespace helpers {

#define CH_HELPER(Name)                                                        \
  uint64_t Name(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
#include "trace-format/ReplayHelpers.def"
#undef CH_HELPER

} // namespace helpers

using Helper = uint64_t (*)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

/// Helper N of ReplayHelpers.def; unused arguments are ignored.
Helper helper(unsigned N);
/// How many arguments it takes.
unsigned helperArity(unsigned N);

} // namespace chronicle::operations

#endif
