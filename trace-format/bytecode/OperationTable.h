// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Facts about the types, operations, helpers and conversions that replay
/// programs name: ReplayOps.def and ReplayHelpers.def as tables.

#ifndef CHRONICLE_TRACE_FORMAT_BYTECODE_OPERATIONTABLE_H
#define CHRONICLE_TRACE_FORMAT_BYTECODE_OPERATIONTABLE_H

#include "trace-format/Bytecode.h"
#include <cassert>
#include <cstdint>

namespace chronicle::bytecode {

/// Bytes a value of the type takes (I1: one).
inline unsigned typeSize(ch_type Type) {
  constexpr uint8_t Sizes[CH_TYPE_COUNT] = {1, 1, 2, 4, 8, 16, 4, 8, 16, 32};
  assert(Type < CH_TYPE_COUNT);
  return Sizes[Type];
}

/// Result and operands of an operation of ReplayOps.def.
struct OperationInfo {
  const char *Name;
  ch_type Result;
  unsigned Arity;
  ch_type Operands[4];
};

constexpr unsigned OperationCount = 0
#define CH_REPLAY_OP(Name, Result, Arity, A, B, C, D) +1
#include "trace-format/ReplayOps.def"
#undef CH_REPLAY_OP
    ;
/// By position in ReplayOps.def.
extern const OperationInfo Operations[OperationCount];

inline unsigned operationCount() { return OperationCount; }
inline const OperationInfo &operationInfo(unsigned N) {
  assert(N < OperationCount);
  return Operations[N];
}

constexpr unsigned HelperCount = 0
#define CH_HELPER(Name) +1
#include "trace-format/ReplayHelpers.def"
#undef CH_HELPER
    ;
inline unsigned helperCount() { return HelperCount; }
/// By position in ReplayHelpers.def.
const char *helperName(unsigned N);

/// Result type of a ch_load_conversion.
inline ch_type conversionResult(uint8_t Conversion) {
  switch (Conversion) {
  case CH_LOAD_V128:
    return CH_V128;
  case CH_LOAD_64:
    return CH_I64;
  default:
    return CH_I32;
  }
}
/// Bytes that a ch_load_conversion reads.
unsigned conversionBytes(uint8_t Conversion);

} // namespace chronicle::bytecode

#endif
