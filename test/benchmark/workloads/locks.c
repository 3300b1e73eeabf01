// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs eight threads that take turns at a table under locks and compute on
// their own in between. `locks N` makes N rounds per thread.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 8, SHELVES = 64, OWN = 1024 };

static struct {
  pthread_mutex_t Lock;
  uint64_t Count;
} Shelves[SHELVES];
static pthread_rwlock_t Table = PTHREAD_RWLOCK_INITIALIZER;
static uint64_t Turns;
static long Rounds;

static void *work(void *Argument) {
  uint32_t State = (uint32_t)(uintptr_t)Argument + 1;
  uint32_t *Own = calloc(OWN, sizeof(*Own));
  for (long Round = 0; Round < Rounds; ++Round) {
    for (int I = 0; I < 200; ++I) {
      State = State * 1664525 + 1013904223;
      Own[(State >> 8) % OWN] += State;
    }
    unsigned Shelf = (State >> 8) % SHELVES;
    if (Round % 16 == 0) {
      pthread_rwlock_wrlock(&Table);
      ++Turns;
    } else {
      pthread_rwlock_rdlock(&Table);
    }
    pthread_mutex_lock(&Shelves[Shelf].Lock);
    Shelves[Shelf].Count += 1;
    pthread_mutex_unlock(&Shelves[Shelf].Lock);
    pthread_rwlock_unlock(&Table);
  }
  free(Own);
  return NULL;
}

int main(int Argc, char **Argv) {
  Rounds = Argc > 1 ? atol(Argv[1]) : 1000;
  for (int I = 0; I < SHELVES; ++I)
    pthread_mutex_init(&Shelves[I].Lock, NULL);
  pthread_t Threads[THREADS];
  for (uintptr_t I = 0; I < THREADS; ++I)
    if (pthread_create(&Threads[I], NULL, work, (void *)I))
      return 1;
  uint64_t Sum = 0;
  for (int I = 0; I < THREADS; ++I)
    pthread_join(Threads[I], NULL);
  for (int I = 0; I < SHELVES; ++I)
    Sum += Shelves[I].Count;
  printf("%llu %llu\n", (unsigned long long)Sum, (unsigned long long)Turns);
  return Sum != (uint64_t)Rounds * THREADS;
}
