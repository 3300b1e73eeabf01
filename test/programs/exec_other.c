// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Works a little, then replaces itself with the program in its arguments.
#include "Check.h"
#include <pthread.h>

static void *idle(void *Argument) {
  pause();
  return Argument;
}

int main(int Count, char **Arguments) {
  CHECK(Count > 1);
  volatile long Sum = 0;
  for (int I = 0; I < 10000; ++I)
    Sum += I;
  printf("before exec: %ld\n", Sum);
  fflush(stdout);
  pthread_t Thread;
  CHECK(pthread_create(&Thread, NULL, idle, NULL) == 0);
  setenv("ADDED", "yes", 1);
  execvp(Arguments[1], Arguments + 1);
  perror(Arguments[1]);
  return 126;
}
