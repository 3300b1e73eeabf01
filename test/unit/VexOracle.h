// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Finds out what VEX computes: compiles a superblock of one operation with
/// Valgrind's own library and runs the machine code. The library keeps its
/// state in globals, so there may be one VexOracle at a time, in one thread.

#ifndef CHRONICLE_TEST_UNIT_VEXORACLE_H
#define CHRONICLE_TEST_UNIT_VEXORACLE_H

#include <cstdint>

namespace chronicle {

class VexOracle {
public:
  VexOracle();
  /// Operation N of ReplayOps.def. False if VEX cannot compile it, or if its
  /// types are not those that the list says.
  bool compile(unsigned N);
  /// Runs what was compiled last: operands and result as their bytes.
  void run(const uint8_t Operands[4][32], uint8_t Result[32]);
};

/// Calls helper N of ReplayHelpers.def as Valgrind has it.
uint64_t callVexHelper(unsigned N, const uint64_t *Arguments);

} // namespace chronicle

#endif
