// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lost update: two threads count without a lock.
#include <pthread.h>
#include <stdio.h>

enum { Times = 1000 };
static long Counter;

static void *count(void *Unused) {
  for (int I = 0; I < Times; ++I)
    Counter = Counter + 1;
  return NULL;
}

int main(void) {
  pthread_t A, B;
  pthread_create(&A, NULL, count, NULL);
  pthread_create(&B, NULL, count, NULL);
  pthread_join(A, NULL);
  pthread_join(B, NULL);
  printf("counted %s\n", Counter == 2 * Times ? "all" : "too few");
  return Counter != 2 * Times;
}
