// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Enters and leaves functions by recursion, callbacks from a library without
// line information, longjmp, a signal handler and inlined functions.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int Sink;

static int factorial(int N) {
  if (N < 2) // line: test
    return 1;
  int Below = factorial(N - 1); // line: below
  return N * Below;             // line: multiply
} // line: returned

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
  Sink = Signal; // line: handler
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
  int F = factorial(4);                                  // line: factorial
  qsort(Numbers, 3, sizeof(int), compare);               // line: sort
  int Code = setjmp(Home);                               // line: setjmp
  if (Code == 0)                                         // line: code
    jumpHome(2);                                         // line: jump
  signal(SIGUSR1, handler);                              // line: install
  raise(SIGUSR1);                                        // line: raise
  int T = twice(F);                                      // line: twice
  int B = busy(20000);                                   // line: busy
  printf("%d %d %d %d %d\n", F, Numbers[0], Code, T, B); // line: print
  return 0;
}
