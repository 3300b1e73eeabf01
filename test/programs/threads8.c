// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs eight threads that share a mutex, a condition variable, a read-write
// lock, a spin lock, atomics of every width, and a stack built on cmpxchg16b.
#include "Check.h"
#include <pthread.h>

enum { THREADS = 8, ROUNDS = 1500 };

static pthread_mutex_t Mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t Turn = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t Rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t Spin;
static long Locked, Shared, Spun, Atomic, Whose;
static unsigned char AtomicByte;

struct Node {
  struct Node *Next;
  long Value;
};
static struct {
  struct Node *Top;
  uint64_t Tag;
} Head __attribute__((aligned(16)));

static int swapHead(struct Node *Old, uint64_t OldTag, struct Node *New) {
  uint8_t Done;
  __asm__ volatile("lock cmpxchg16b %1\n\tsete %0"
                   : "=q"(Done), "+m"(Head), "+a"(Old), "+d"(OldTag)
                   : "b"(New), "c"(OldTag + 1)
                   : "cc", "memory");
  return Done;
}
static void push(struct Node *Node) {
  struct Node *Old;
  uint64_t Tag;
  do {
    Tag = __atomic_load_n(&Head.Tag, __ATOMIC_ACQUIRE);
    Old = __atomic_load_n(&Head.Top, __ATOMIC_ACQUIRE);
    Node->Next = Old;
  } while (!swapHead(Old, Tag, Node));
}
static struct Node *pop(void) {
  struct Node *Old;
  uint64_t Tag;
  do {
    Tag = __atomic_load_n(&Head.Tag, __ATOMIC_ACQUIRE);
    Old = __atomic_load_n(&Head.Top, __ATOMIC_ACQUIRE);
    if (!Old)
      return NULL;
  } while (!swapHead(Old, Tag, Old->Next));
  return Old;
}

static void *work(void *Argument) {
  long Me = (long)Argument;
  long Popped = 0;
  struct Node *Own = malloc(sizeof(struct Node) * ROUNDS);
  for (int I = 0; I < ROUNDS; ++I) {
    pthread_mutex_lock(&Mutex);
    ++Locked;
    pthread_mutex_unlock(&Mutex);
    if (I % 8 == 0) {
      pthread_rwlock_wrlock(&Rwlock);
      ++Shared;
    } else {
      pthread_rwlock_rdlock(&Rwlock);
      CHECK(Shared >= 0);
    }
    pthread_rwlock_unlock(&Rwlock);
    pthread_spin_lock(&Spin);
    ++Spun;
    pthread_spin_unlock(&Spin);
    __atomic_fetch_add(&Atomic, Me, __ATOMIC_RELAXED);
    __atomic_fetch_xor(&AtomicByte, 1, __ATOMIC_RELAXED);
    Own[I].Value = 1;
    push(&Own[I]);
    struct Node *Node = pop();
    if (Node)
      Popped += Node->Value;
  }
  // The threads pass the turn round, one after the other.
  for (int Round = 0; Round < 20; ++Round) {
    pthread_mutex_lock(&Mutex);
    while (Whose % THREADS != Me)
      pthread_cond_wait(&Turn, &Mutex);
    ++Whose;
    pthread_cond_broadcast(&Turn);
    pthread_mutex_unlock(&Mutex);
  }
  return (void *)Popped;
}

int main(void) {
  pthread_t Threads[THREADS];
  pthread_spin_init(&Spin, 0);
  long Popped = 0;
  for (long I = 0; I < THREADS; ++I)
    CHECK(pthread_create(&Threads[I], NULL, work, (void *)I) == 0);
  for (long I = 0; I < THREADS; ++I) {
    void *Result;
    CHECK(pthread_join(Threads[I], &Result) == 0);
    Popped += (long)Result;
  }
  while (pop())
    ++Popped;
  printf("%ld %ld %ld %ld %ld %d %ld\n", Locked, Shared, Spun, Atomic, Popped,
         AtomicByte, Whose);
  return 0;
}
