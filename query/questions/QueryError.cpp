// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "query/questions/QueryError.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace chronicle::questions {

char QueryError::ID = 0;

void QueryError::log(raw_ostream &Out) const { Out << Message; }

Error queryError(StringRef Code, const Twine &Message) {
  return make_error<QueryError>(Code, Message);
}

} // namespace chronicle::questions
