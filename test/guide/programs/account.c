// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An account: the main thread deposits, and an auditor checks each deposit. The
// auditor charges a fee for every tenth one.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static long Balance;
static int Request[2], Answer[2];

static void *audit(void *Unused) {
  long Amount, Checked = 0;
  while (read(Request[0], &Amount, sizeof Amount) == sizeof Amount) {
    if (++Checked % 10 == 0)
      Balance -= 2;
    write(Answer[1], &Amount, sizeof Amount);
  }
  return Unused;
}

static void deposit(long Amount) {
  long Before = Balance;
  write(Request[1], &Amount, sizeof Amount);
  read(Answer[0], &Amount, sizeof Amount);
  Balance = Before + Amount;
}

int main(void) {
  pthread_t Auditor;
  pipe(Request);
  pipe(Answer);
  pthread_create(&Auditor, 0, audit, 0);
  for (int I = 1; I <= 50; ++I)
    deposit(100);
  close(Request[1]);
  pthread_join(Auditor, 0);
  printf("balance: %ld, expected: %d\n", Balance, 50 * 100 - 5 * 2);
  return Balance != 4990;
}
