// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "query/questions/Place.h"
#include "query/questions/QueryError.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::questions {

Place placeAt(const query::Trace &T, uint64_t Pc, Timestamp At) {
  return {Pc, T.symbols().find(Pc, At)};
}

Expected<uint32_t> liveThread(const query::Trace &T, uint32_t Thread,
                              Timestamp At) {
  if (!Thread)
    return T.threadAt(At);
  Expected<std::vector<answers::ThreadInfo>> Threads = T.threads(At);
  if (!Threads)
    return Threads.takeError();
  if (any_of(*Threads,
             [&](const answers::ThreadInfo &I) { return I.Number == Thread; }))
    return Thread;
  return queryError("not-found",
                    "there is no thread " + Twine(Thread) + " at " + Twine(At));
}

} // namespace chronicle::questions
