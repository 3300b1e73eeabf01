// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop, a recursion and a global variable, for going back and forth.
#include <stdio.h>

static int Total;

static int factorial(int N) {
  if (N <= 1)                   // line: test
    return 1;                   // line: base
  int Below = factorial(N - 1); // line: below
  return N * Below;             // line: multiply
}

int main(void) {
  for (int I = 1; I <= 3; ++I) { // line: loop
    int Square = I * I;          // line: square
    Total += Square;             // line: add
  }
  int Result = factorial(4);        // line: call
  printf("%d %d\n", Total, Result); // line: print
  return 0;
} // line: end
