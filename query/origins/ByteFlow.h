// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Which bytes of an operation's operands its result consists of.

#ifndef CHRONICLE_QUERY_ORIGINS_BYTEFLOW_H
#define CHRONICLE_QUERY_ORIGINS_BYTEFLOW_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace chronicle::origins {

/// What a byte of a result is.
struct ByteSource {
  enum Kind : uint8_t {
    Computed, ///< from several bytes, or changed
    Copy,     ///< always byte Byte of operand Operand
    Zero,     ///< added by extending a value by zeros
    Sign,     ///< added by extending a value by its sign, which is in Byte
  };
  Kind What = Computed;
  uint8_t Operand = 0, Byte = 0;
};

/// By byte of the result, what operation N of ReplayOps.def does with operands
/// that are not constants. Found out once, by computing the operation on random
/// operands, for operations that by their names move bytes; all others compute.
llvm::ArrayRef<ByteSource> byteFlow(unsigned Operation);

} // namespace chronicle::origins

#endif
