// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Why an expression has no value at a moment.

#ifndef CHRONICLE_QUERY_EXPRESSIONS_EVALUATIONERROR_H
#define CHRONICLE_QUERY_EXPRESSIONS_EVALUATIONERROR_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <string>

namespace chronicle::expressions {

/// Everything else that goes wrong is an error of the trace.
class EvaluationError : public llvm::ErrorInfo<EvaluationError> {
public:
  enum class Kind {
    NotSimple, ///< a debugger may know more
    NoValue,   ///< there is none, for example because memory is not mapped
  };
  static char ID;

  EvaluationError(Kind What, std::string Why)
      : What(What), Why(std::move(Why)) {}
  Kind kind() const { return What; }
  const std::string &why() const { return Why; }

  void log(llvm::raw_ostream &Out) const override;
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  Kind What;
  std::string Why;
};

llvm::Error notSimple(const llvm::Twine &Why);
llvm::Error noValue(const llvm::Twine &Why);

} // namespace chronicle::expressions

#endif
