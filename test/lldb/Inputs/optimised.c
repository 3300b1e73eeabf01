// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled with -O2: variables that live in registers, or nowhere.
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) long sum(long N) {
  long Total = 0;
  for (long I = 0; I < N; ++I)
    Total += random() & 1 ? I : 1;
  return Total;
}

int main(void) {
  printf("%ld\n", sum(10));
  return 0;
}
