// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Why a question has no answer.

#ifndef CHRONICLE_QUERY_QUESTIONS_QUERYERROR_H
#define CHRONICLE_QUERY_QUESTIONS_QUERYERROR_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <string>

namespace chronicle::questions {

/// A code for programs and a sentence for people. docs/query.md lists the
/// codes.
class QueryError : public llvm::ErrorInfo<QueryError> {
public:
  static char ID;
  QueryError(llvm::StringRef Code, const llvm::Twine &Message)
      : Code(Code), Message(Message.str()) {}

  void log(llvm::raw_ostream &Out) const override;
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

  std::string Code, Message;
};

llvm::Error queryError(llvm::StringRef Code, const llvm::Twine &Message);

} // namespace chronicle::questions

#endif
