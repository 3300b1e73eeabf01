// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A value of a simple expression, and its text.

#ifndef CHRONICLE_QUERY_EXPRESSIONS_VALUE_H
#define CHRONICLE_QUERY_EXPRESSIONS_VALUE_H

#include "query/expressions/StateReader.h"
#include "query/expressions/Type.h"

namespace chronicle::expressions {

struct Value {
  const Type *Of = nullptr; ///< whole, a pointer or a floating-point type
  /// Numbers with a sign are extended to 64 bits. Of a floating-point number,
  /// its bytes.
  uint64_t Bits = 0;
  /// What a pointer points to.
  const Type *Target = nullptr;

  bool isTrue() const;
  /// Of a floating-point type.
  double number() const;
};

/// The value as LLDB shows it: 12, 'a', true, Red, 0x0000000000001000,
/// 0x0000000000401000 "text". Nothing: LLDB knows better what to show, as for
/// floating-point numbers and pointers to functions.
std::optional<std::string> lldbText(const Value &V, StateReader &State);
/// The same for programs: there is always an answer, and a pointer is 0x1000
/// without what it points to.
std::string plainText(const Value &V);
/// The text that a pointer to char points to, without its end, if it is mapped
/// and not longer than Most bytes.
llvm::Expected<std::optional<std::string>>
pointedText(const Value &V, StateReader &State, size_t Most);

} // namespace chronicle::expressions

#endif
