// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first thread ends with pthread_exit; the last one sets the exit status.
#include "Check.h"
#include <pthread.h>

static pthread_t Main;

static void *after(void *Argument) {
  pthread_join(Main, NULL);
  volatile long Sum = 0;
  for (int I = 0; I < 1000; ++I)
    Sum += I;
  printf("still here: %ld\n", Sum);
  exit(5);
  return Argument;
}

int main(void) {
  pthread_t Thread;
  Main = pthread_self();
  CHECK(pthread_create(&Thread, NULL, after, NULL) == 0);
  pthread_exit(NULL);
}
