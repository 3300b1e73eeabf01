// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread other than the first ends the program while the others run and wait.
#include "Check.h"
#include <pthread.h>

static volatile long Count;

// Sleeps now and then, so that the length of the run does not depend on how
// long a loaded machine keeps the other threads waiting.
static void *spin(void *Argument) {
  for (;;)
    if (++Count % 1000 == 0)
      usleep(1000);
  return Argument;
}
static void *sleeper(void *Argument) {
  pause();
  return Argument;
}
static void *ends(void *Argument) {
  usleep(20000);
  printf("the second thread says goodbye\n");
  exit(42);
  return Argument;
}

int main(void) {
  pthread_t Thread;
  CHECK(pthread_create(&Thread, NULL, spin, NULL) == 0);
  CHECK(pthread_create(&Thread, NULL, sleeper, NULL) == 0);
  CHECK(pthread_create(&Thread, NULL, ends, NULL) == 0);
  pthread_join(Thread, NULL);
  return 1;
}
