// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomicity violation: each access to the account is locked, but looking and
// then taking is not.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t Lock = PTHREAD_MUTEX_INITIALIZER;
static long Balance = 100;

static long balance(void) {
  pthread_mutex_lock(&Lock);
  long Now = Balance;
  pthread_mutex_unlock(&Lock);
  return Now;
}

static void add(long Amount) {
  pthread_mutex_lock(&Lock);
  Balance += Amount;
  pthread_mutex_unlock(&Lock);
}

static void *withdraw(void *Unused) {
  for (int I = 0; I < 20; ++I)
    if (balance() >= 10)
      add(-10);
  return NULL;
}

int main(void) {
  pthread_t A, B;
  pthread_create(&A, NULL, withdraw, NULL);
  pthread_create(&B, NULL, withdraw, NULL);
  pthread_join(A, NULL);
  pthread_join(B, NULL);
  assert(Balance >= 0);
  puts("the account is in order");
  return 0;
}
