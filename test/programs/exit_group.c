// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread that is not the first ends the program while others run and wait.
#include "Check.h"
#include <pthread.h>

static volatile long Count;

static void *spin(void *Argument) {
  for (;;)
    ++Count;
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
