// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Creates and ends threads: with TLS, with keys that have destructors,
// detached, leaving by pthread_exit in nested calls, cancelled, and many short
// ones. There are 1 + 4 + 2 + 1 + 1 + 50 threads.
#define _GNU_SOURCE
#include "Check.h"
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

static __thread int Local = 7;
static __thread char Block[5000];
static pthread_key_t Key;
static int Destroyed;
static sem_t Done;
static pthread_barrier_t Barrier;

static void destroy(void *Value) {
  __atomic_fetch_add(&Destroyed, (int)(intptr_t)Value, __ATOMIC_SEQ_CST);
}

static void *worker(void *Argument) {
  intptr_t Number = (intptr_t)Argument;
  CHECK(Local == 7);
  Local = (int)Number * 100;
  memset(Block, (int)Number, sizeof(Block));
  pthread_setspecific(Key, (void *)(Number + 1));
  pthread_barrier_wait(&Barrier);
  CHECK(Local == Number * 100 && Block[4999] == Number);
  return (void *)(Number * 2);
}

static void *detached(void *Argument) {
  sem_post(&Done);
  pthread_exit(Argument);
}

static void *canceled(void *Argument) {
  sem_post(&Done);
  for (;;)
    usleep(1000);
  return Argument;
}

static void inner(void) { pthread_exit((void *)55); }
static void *leaves(void *Argument) {
  inner();
  return Argument;
}

static void *shortLived(void *Argument) { return (char *)Argument + 1; }

int main(void) {
  sem_init(&Done, 0, 0);
  pthread_key_create(&Key, destroy);
  pthread_barrier_init(&Barrier, NULL, 4);
  pthread_t Threads[4], One;
  void *Result;
  for (intptr_t I = 0; I < 4; ++I)
    CHECK(pthread_create(&Threads[I], NULL, worker, (void *)I) == 0);
  for (intptr_t I = 0; I < 4; ++I) {
    CHECK(pthread_join(Threads[I], &Result) == 0);
    CHECK((intptr_t)Result == I * 2);
  }
  CHECK(Destroyed == 1 + 2 + 3 + 4 && Local == 7);

  pthread_attr_t Detached;
  pthread_attr_init(&Detached);
  pthread_attr_setdetachstate(&Detached, PTHREAD_CREATE_DETACHED);
  for (int I = 0; I < 2; ++I)
    CHECK(pthread_create(&One, &Detached, detached, NULL) == 0);
  sem_wait(&Done), sem_wait(&Done);

  CHECK(pthread_create(&One, NULL, leaves, NULL) == 0);
  pthread_join(One, &Result);
  CHECK((intptr_t)Result == 55);
  CHECK(pthread_create(&One, NULL, canceled, NULL) == 0);
  sem_wait(&Done);
  pthread_cancel(One);
  pthread_join(One, &Result);
  CHECK(Result == PTHREAD_CANCELED);
  for (intptr_t I = 0; I < 50; ++I) {
    CHECK(pthread_create(&One, NULL, shortLived, (void *)I) == 0);
    pthread_join(One, &Result);
    CHECK((intptr_t)Result == I + 1);
  }
  printf("threads done\n");
  return 0;
}
