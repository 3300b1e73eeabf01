// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads that come and go one after the other, and one that stays to the end.
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static sem_t Ready;

static void *turn(void *Number) {
  return Number; // line: turn
}

static void *stay(void *Nothing) {
  sem_post(&Ready);
  for (;;)
    pause();
  return Nothing;
}

int main(void) {
  pthread_t Thread;
  for (long I = 1; I <= 3; ++I) {
    pthread_create(&Thread, NULL, turn, (void *)I);
    pthread_join(Thread, NULL);
  }
  sem_init(&Ready, 0, 0);
  pthread_create(&Thread, NULL, stay, NULL);
  sem_wait(&Ready);
  return 0; // line: last
}
