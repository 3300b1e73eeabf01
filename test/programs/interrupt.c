// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For the tests of Ctrl-C. Without an argument an interrupt kills the program.
// With "once" it counts interrupts and ends after the first; with "never" it
// ignores them.
#include "Check.h"
#include <signal.h>

static volatile sig_atomic_t Interrupts;
static volatile long Work;

static void interrupted(int Number) {
  (void)Number;
  ++Interrupts;
}

int main(int Count, char **Arguments) {
  const char *How = Count > 1 ? Arguments[1] : "";
  if (!strcmp(How, "once"))
    signal(SIGINT, interrupted);
  else if (!strcmp(How, "never"))
    signal(SIGINT, SIG_IGN);
  printf("ready\n");
  fflush(stdout);
  while (!Interrupts)
    ++Work;
  printf("interrupted %d time, going on\n", (int)Interrupts);
  return 4;
}
