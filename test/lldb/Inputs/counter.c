// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Adds the numbers from 1 to 5, in a function and to a variable.
#include <stdio.h>

static int Counter;

static int add(int A, int B) {
  Counter += B;
  return A + B; // line: sum
}

int main(void) {
  int Sum = 0;
  for (int I = 1; I <= 5; ++I)
    Sum = add(Sum, I); // line: call
  printf("%d %d\n", Sum, Counter);
  return 0;
}
