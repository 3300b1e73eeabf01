// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop, a recursion and a global variable, for going back and forth.
#include <stdio.h>

static int Total;

static int factorial(int N) {
  if (N <= 1)
    return 1;
  int Below = factorial(N - 1);
  return N * Below;
}

int main(void) {
  for (int I = 1; I <= 3; ++I) {
    int Square = I * I;
    Total += Square;
  }
  int Result = factorial(4);
  printf("%d %d\n", Total, Result);
  return 0;
}
