// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/bytecode/OperationTable.h"

namespace chronicle::bytecode {

const OperationInfo Operations[OperationCount] = {
#define CH_REPLAY_OP(Name, Result, Arity, A, B, C, D)                          \
  {#Name, CH_##Result, Arity, {CH_##A, CH_##B, CH_##C, CH_##D}},
#include "trace-format/ReplayOps.def"
#undef CH_REPLAY_OP
};

const char *helperName(unsigned N) {
  static const char *const Helpers[HelperCount] = {
#define CH_HELPER(Name) #Name,
#include "trace-format/ReplayHelpers.def"
#undef CH_HELPER
  };
  assert(N < HelperCount);
  return Helpers[N];
}

unsigned conversionBytes(uint8_t Conversion) {
  switch (Conversion) {
  case CH_LOAD_V128:
    return 16;
  case CH_LOAD_64:
    return 8;
  case CH_LOAD_32:
    return 4;
  case CH_LOAD_16U_32:
  case CH_LOAD_16S_32:
    return 2;
  default:
    return 1;
  }
}

} // namespace chronicle::bytecode
