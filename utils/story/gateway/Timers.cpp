// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Timers.h"

unsigned TimerQueue::arm(unsigned When, Session *S) {
  unsigned Number = ++Last;
  Waiting[Number] = {When, S};
  return Number;
}

void TimerQueue::cancel(unsigned Number) { Waiting.erase(Number); }

std::vector<Session *> TimerQueue::due(unsigned Now) {
  std::vector<Session *> Owners;
  for (auto It = Waiting.begin(); It != Waiting.end();) {
    if (It->second.When > Now) {
      ++It;
      continue;
    }
    Owners.push_back(It->second.Owner);
    It = Waiting.erase(It);
  }
  return Owners;
}
