// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/ThreadNames.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle {

uint64_t osThread(const Trace &T, uint32_t Number) {
  ArrayRef<ThreadInfo> All = T.allThreads();
  auto It = partition_point(
      All, [&](const ThreadInfo &Each) { return Each.Number < Number; });
  return It != All.end() && It->Number == Number ? It->OsThread : Number;
}

uint32_t threadNumber(const Trace &T, uint64_t OsThread, Timestamp Now) {
  // The system may have given the name of a thread that ended to another one.
  uint32_t Found = 0;
  for (const ThreadInfo &Each : T.allThreads())
    if (Each.OsThread == OsThread && (!Found || Each.Started <= Now))
      Found = Each.Number;
  return Found;
}

} // namespace chronicle
