// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ways in and out of functions: recursion, callbacks from a library without
// line information, tail calls, longjmp, a signal handler, inlined functions.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int Sink;

static int factorial(int N) {
  if (N < 2)
    return 1;
  int Below = factorial(N - 1);
  return N * Below;
}

static int compare(const void *A, const void *B) {
  int Left = *(const int *)A;
  int Right = *(const int *)B;
  return Left - Right;
}

static jmp_buf Home;

static void jumpHome(int Depth) {
  if (Depth == 0)
    longjmp(Home, 7);
  jumpHome(Depth - 1);
}

static void handler(int Signal) {
  Sink = Signal;
}

static inline __attribute__((always_inline)) int twice(int X) {
  int Y = X + X;
  Sink = Y;
  return Y;
}

__attribute__((noinline)) static int busy(int N) {
  int Sum = 0;
  for (int I = 0; I < N; ++I)
    Sum += I & 3;
  return Sum;
}

int main(void) {
  int Numbers[] = {3, 1, 2};
  int F = factorial(4);
  qsort(Numbers, 3, sizeof(int), compare);
  int Code = setjmp(Home);
  if (Code == 0)
    jumpHome(2);
  signal(SIGUSR1, handler);
  raise(SIGUSR1);
  int T = twice(F);
  int B = busy(20000);
  printf("%d %d %d %d %d\n", F, Numbers[0], Code, T, B);
  return 0;
}
