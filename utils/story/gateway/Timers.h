// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef GATEWAY_TIMERS_H
#define GATEWAY_TIMERS_H

#include <map>
#include <vector>

struct Session;

/// Knows which sessions must be looked after, and when. A timer fires once.
class TimerQueue {
public:
  /// Starts a timer and returns its number.
  unsigned arm(unsigned When, Session *S);
  /// Stops a timer. One that has fired already is not an error.
  void cancel(unsigned Number);
  /// The owners of the timers that fire now.
  std::vector<Session *> due(unsigned Now);

private:
  struct Timer {
    unsigned When;
    Session *Owner;
  };
  std::map<unsigned, Timer> Waiting; // by number
  unsigned Last = 0;
};

#endif
