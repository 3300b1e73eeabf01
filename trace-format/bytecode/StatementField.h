// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The kinds of fields that the statements of Statements.def consist of.

#ifndef CHRONICLE_TRACE_FORMAT_BYTECODE_STATEMENTFIELD_H
#define CHRONICLE_TRACE_FORMAT_BYTECODE_STATEMENTFIELD_H

#include <cstdint>

namespace chronicle::bytecode {

enum class StatementField : uint8_t {
  // Bytes and numbers.
  Type,        ///< ty, the type of Value and of what is defined
  IntegerType, ///< ty, I8 to I64
  Conversion,  ///< ch_load_conversion, which gives Type
  Double,      ///< of a compare-and-swap: two values, or four
  State,       ///< offset:v of a value of Type in the guest state
  StateBytes,  ///< offset:v size:v in the guest state
  Array,       ///< base:v elements:v bias:zigzag-v in the guest state
  Size,        ///< bytes:v of memory
  Helper,      ///< number in ReplayHelpers.def
  Reason,      ///< of an opaque value
  // Operands.
  Guard,      ///< I1
  Index,      ///< I32
  Address,    ///< I64
  Value,      ///< of Type
  SwapValues, ///< two or four of Type
  Arguments,  ///< count:v, then so many I64
  // What changes the flow of control, or what is followed along it.
  Length,   ///< of an instruction
  Origin,   ///< ch_stack_origin
  ExitJump, ///< ch_jump base:v delta:zigzag-v
  LastJump, ///< the same, of the last statement
};

constexpr bool isFlow(StatementField Field) {
  return Field >= StatementField::Length;
}

} // namespace chronicle::bytecode

#endif
