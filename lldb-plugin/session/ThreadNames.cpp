// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/session/ThreadNames.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::session {

uint64_t osThread(const query::Trace &T, uint32_t Number) {
  ArrayRef<answers::ThreadInfo> All = T.allThreads();
  auto It = partition_point(All, [&](const answers::ThreadInfo &Each) {
    return Each.Number < Number;
  });
  return It != All.end() && It->Number == Number ? It->OsThread : Number;
}

uint32_t threadNumber(const query::Trace &T, uint64_t OsThread, Timestamp Now) {
  // The system may give the ID of a thread that has ended to another one.
  uint32_t Found = 0;
  for (const answers::ThreadInfo &Each : T.allThreads())
    if (Each.OsThread == OsThread && (!Found || Each.Started <= Now))
      Found = Each.Number;
  return Found;
}

} // namespace chronicle::session
