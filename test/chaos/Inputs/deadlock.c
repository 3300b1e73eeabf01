// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Deadlock by lock order: money goes both ways, and each way locks the account
// that it comes from first.
#include <pthread.h>
#include <stdio.h>

struct Account {
  pthread_mutex_t Lock;
  long Balance;
};
static struct Account X = {PTHREAD_MUTEX_INITIALIZER, 100};
static struct Account Y = {PTHREAD_MUTEX_INITIALIZER, 100};

static void transfer(struct Account *From, struct Account *To, long Amount) {
  pthread_mutex_lock(&From->Lock);
  pthread_mutex_lock(&To->Lock);
  From->Balance -= Amount;
  To->Balance += Amount;
  pthread_mutex_unlock(&To->Lock);
  pthread_mutex_unlock(&From->Lock);
}

static void *there(void *Unused) {
  for (int I = 0; I < 20; ++I)
    transfer(&X, &Y, 1);
  return NULL;
}

static void *back(void *Unused) {
  for (int I = 0; I < 20; ++I)
    transfer(&Y, &X, 1);
  return NULL;
}

int main(void) {
  pthread_t A, B;
  pthread_create(&A, NULL, there, NULL);
  pthread_create(&B, NULL, back, NULL);
  pthread_join(A, NULL);
  pthread_join(B, NULL);
  printf("%ld and %ld\n", X.Balance, Y.Balance);
  return 0;
}
