// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread that is not the first ends the program while others run and wait.
#include "Check.h"
#include <pthread.h>

static volatile long Count;

/* Sleeps now and then: how long the run is must not depend on how long a loaded
   machine lets the others wait. */
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
