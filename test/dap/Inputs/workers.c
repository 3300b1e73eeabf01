// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Three threads that each count in a variable of their own.
#include <pthread.h>
#include <stdio.h>

static pthread_barrier_t Together;

static int count(int Worker) {
  int Sum = 0;
  for (int I = 0; I < 4; ++I)
    Sum += Worker * 10 + I;
  return Sum;
}

static void *work(void *Argument) {
  int Worker = *(int *)Argument;
  pthread_barrier_wait(&Together);
  int Sum = count(Worker);
  *(int *)Argument = Sum;
  pthread_barrier_wait(&Together);
  return NULL;
}

int main(void) {
  pthread_t Threads[3];
  int Numbers[3] = {1, 2, 3};
  pthread_barrier_init(&Together, NULL, 4);
  for (int I = 0; I < 3; ++I)
    pthread_create(&Threads[I], NULL, work, &Numbers[I]);
  pthread_barrier_wait(&Together);
  pthread_barrier_wait(&Together);
  for (int I = 0; I < 3; ++I)
    pthread_join(Threads[I], NULL);
  printf("%d %d %d\n", Numbers[0], Numbers[1], Numbers[2]);
  return 0;
}
