// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The part of C's expressions that is evaluated without a debugger, as a tree.

#ifndef CHRONICLE_QUERY_EXPRESSIONS_EXPRESSION_H
#define CHRONICLE_QUERY_EXPRESSIONS_EXPRESSION_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace chronicle::expressions {

enum class Operation {
  Number,      ///< Value, which has Size bytes and may be Unsigned
  Floating,    ///< Value has the bytes of a double, or of a float by its Size
  Name,        ///< of a variable, a member of *this, or an enumerator
  Register,    ///< $rax
  Member,      ///< Operands[0].Text
  Arrow,       ///< Operands[0]->Text
  Index,       ///< Operands[0][Operands[1]]
  Dereference, ///< *a
  AddressOf,   ///< &a
  Plus,        ///< +a
  Negate,      ///< -a
  Not,         ///< !a
  Complement,  ///< ~a
  Multiply,
  Divide,
  Remainder,
  Add,
  Subtract,
  ShiftLeft,
  ShiftRight,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Equal,
  NotEqual,
  BitAnd,
  BitXor,
  BitOr,
  And,
  Or,
  Conditional, ///< a ? b : c
};

/// A simple expression: variables, registers, members, elements, dereferences,
/// numbers, characters, and C's operators without side effects. No casts, no
/// calls, no strings.
struct Expression {
  Operation What = Operation::Number;
  std::string Text; ///< of a name, a register or a member
  uint64_t Value = 0;
  unsigned Size = 4;
  bool Unsigned = false;
  std::vector<Expression> Operands;

  /// Fails if the text is something else.
  static llvm::Expected<Expression> parse(llvm::StringRef Text);
};

/// The expressions of a list, which commas separate, except within brackets and
/// quotes. Fails if one is empty.
llvm::Expected<std::vector<std::string>> splitList(llvm::StringRef Text);

} // namespace chronicle::expressions

#endif
