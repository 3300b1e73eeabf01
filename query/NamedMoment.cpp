// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/NamedMoment.h"
#include "query/answers/RunEnd.h"

using namespace llvm;

namespace chronicle::query {

Expected<std::optional<Timestamp>> namedMoment(const Trace &T, StringRef Name) {
  if (Name == "start")
    return Timestamp(0);
  if (Name == "end")
    return T.instructions();
  if (Name != "crash")
    return std::nullopt;
  const answers::RunEnd How = answers::RunEnd::of(T.reader().end());
  if (!How.signal())
    return createStringError("the program did not crash, it " + How.text() +
                             ": say 'end'");
  return T.instructions();
}

} // namespace chronicle::query
