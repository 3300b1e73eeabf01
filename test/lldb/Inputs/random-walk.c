// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes calls of all kinds, which all end by a return. It is short, because a
// test steps through every instruction.
#include <stdlib.h>

static volatile int Sink;
int Table[4] = {4, 2, 3, 1};

static int fibonacci(int N) {
  if (N < 2)
    return N;
  // clang-format off: one statement on two lines.
  return fibonacci(N - 1) +
         fibonacci(N - 2);
  // clang-format on
}

static int compare(const void *A, const void *B) {
  return *(const int *)A - *(const int *)B;
}

static int even(int N);
static int odd(int N) {
  if (N == 0)
    return 0;
  return even(N - 1);
}
static int even(int N) {
  if (N == 0)
    return 1;
  return odd(N - 1);
}

static int loop(int N) {
  int Sum = 0;
  for (int I = 0; I < N; ++I) {
    if (I & 1)
      continue;
    // clang-format off: two statements and a loop on one line.
    Sum += abs(-I); while (Sum & 1) Sum += fibonacci(1);
    // clang-format on
  }
  return Sum;
}

__attribute__((noinline)) static int walk(int N) {
  int F = fibonacci(N);
  int E = even(3);
  int L = loop(6);
  qsort(Table, 4, sizeof(int), compare);
  Sink = F + E + L;
  return Sink;
}

int main(void) { return walk(4) == 0; }
