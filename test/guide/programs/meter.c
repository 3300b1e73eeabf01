// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads an electricity meter every hour and adds up what was used.
#include <stdio.h>
#include <stdlib.h>

static unsigned short Previous = 40000;

__attribute__((noinline)) static int used(unsigned short Now) {
  int Difference = Now - Previous;
  Previous = Now;
  return Difference;
}

int main(void) {
  long Total = 0;
  unsigned Meter = 40000, Seed = 7;
  for (int Hour = 0; Hour < 5000; ++Hour) {
    Seed = Seed * 1103515245 + 12345;
    Meter += Seed >> 28;
    Total += used(Meter);
  }
  printf("used: %ld kWh\n", Total);
  return Total < 0;
}
