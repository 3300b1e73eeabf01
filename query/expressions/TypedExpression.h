// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// An expression whose names are resolved for the code at one address.

#ifndef CHRONICLE_QUERY_EXPRESSIONS_TYPEDEXPRESSION_H
#define CHRONICLE_QUERY_EXPRESSIONS_TYPEDEXPRESSION_H

#include "query/expressions/DebugInfo.h"
#include "query/expressions/Expression.h"
#include "query/expressions/Location.h"
#include "query/expressions/Value.h"

namespace chronicle::expressions {

/// A node of the tree. Conversions are nodes of their own, so that both
/// operands of an operation have its type.
struct TypedExpression {
  enum class Kind {
    Constant,  ///< Number
    Variable,  ///< at Where
    Register,  ///< at Number in the guest state, Bits of it
    Result,    ///< what the call returns
    Field,     ///< at offset Number of its operand
    Indirect,  ///< what the operand points to
    AddressOf, ///< of the operand; also an array as a pointer
    Convert,   ///< the operand as another type
    Unary,
    Binary,
    Scaled,   ///< a pointer, plus or minus Number times the second operand
    Distance, ///< of two pointers to objects of Number bytes
    Conditional,
  };
  Kind What = Kind::Constant;
  Operation How = Operation::Number;
  const Type *Of = nullptr;
  const Type *Target = nullptr; ///< of a pointer
  uint64_t Number = 0;
  unsigned BitOffset = 0, Bits = 0; ///< of a bit-field; 0 bits: it is none
  Location Where;
  std::vector<TypedExpression> Operands;

  /// Whether it is an object, which has a place.
  bool isObject() const {
    return What == Kind::Variable || What == Kind::Field ||
           What == Kind::Indirect;
  }
};

/// Resolves the names in the scope of the code at Pc, of which Inside functions
/// that were inlined there are left out. Costs reading the debug info of the
/// function, once. An EvaluationError if that is not possible here, or if a
/// variable has no place at Pc.
llvm::Expected<TypedExpression> resolve(const Expression &E, DebugInfo &Info,
                                        const query::Trace &T,
                                        const state::ModuleLoad &Module,
                                        uint64_t Pc, unsigned Inside);

/// The same for code without debug info: registers and numbers.
llvm::Expected<TypedExpression> resolve(const Expression &E, TypeTable &Types);

/// An EvaluationError if there is no value. Costs some microseconds, and a call
/// stack if a variable depends on the frame.
llvm::Expected<Value> evaluate(const TypedExpression &E, StateReader &State);

} // namespace chronicle::expressions

#endif
