// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Three workers that take turns, so that who did what is the same in every run.
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>

static pthread_mutex_t Lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t Changed = PTHREAD_COND_INITIALIZER;
static int Started, Turn, Total;

__attribute__((noinline)) static void work(int Number, int Round) {
  Total += Number * Round; // line: work
  Total += 1;
}

static void *worker(void *Argument) {
  int Number = *(int *)Argument;
  char Name[16];
  snprintf(Name, sizeof Name, "worker %d", Number);
  prctl(PR_SET_NAME, Name);
  pthread_mutex_lock(&Lock);
  ++Started;
  pthread_cond_broadcast(&Changed);
  while (Started < 3)
    pthread_cond_wait(&Changed, &Lock);
  pthread_mutex_unlock(&Lock);
  for (int Round = 0; Round < 4; ++Round) {
    pthread_mutex_lock(&Lock);
    while (Turn % 3 != Number)
      pthread_cond_wait(&Changed, &Lock);
    work(Number, Round);
    ++Turn; // line: done
    pthread_cond_broadcast(&Changed);
    pthread_mutex_unlock(&Lock);
  }
  return 0;
}

int main(void) {
  pthread_t Threads[3];
  int Numbers[3] = {0, 1, 2};
  for (int I = 0; I < 3; ++I) {
    // One after the other, so that debuggers give them the same numbers.
    pthread_create(&Threads[I], 0, worker, &Numbers[I]);
    pthread_mutex_lock(&Lock);
    while (Started == I)
      pthread_cond_wait(&Changed, &Lock);
    pthread_mutex_unlock(&Lock);
  }
  for (int I = 0; I < 3; ++I)
    pthread_join(Threads[I], 0);
  printf("%d\n", Total); // line: end
  return 0;
}
