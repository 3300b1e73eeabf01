// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/answers/ReplayError.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace chronicle::answers {

char ReplayError::ID;

void ReplayError::log(raw_ostream &Out) const { Out << Text; }

std::error_code ReplayError::convertToErrorCode() const {
  return inconvertibleErrorCode();
}

StringRef mismatchAdvice(const json::Object &Run) {
  const json::Object *Options = Run.getObject("options");
  // With all loads logged, memory that changed without a report is no
  // explanation.
  if (Options && Options->getString("log-loads") == StringRef("always"))
    return "this is a fault of Chronicle; please report it";
  return "memory may have changed in a way that the recorder does not know; "
         "record again with --log-loads always, which finds such changes";
}

} // namespace chronicle::answers
