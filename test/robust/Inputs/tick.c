/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
   Prints the time again and again. Between, it writes to memory; with an
   argument it sleeps. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static unsigned char Memory[16 << 20];

int main(int Count, char **Words) {
  (void)Words;
  for (unsigned Round = 1;; ++Round) {
    struct timespec Now;
    char Text[64];
    clock_gettime(CLOCK_MONOTONIC, &Now);
    int Length = snprintf(Text, sizeof(Text), "%ld.%09ld\n", (long)Now.tv_sec,
                          Now.tv_nsec);
    if (write(1, Text, (size_t)Length) != Length)
      return 1;
    if (Count > 1) {
      usleep(20000);
      continue;
    }
    for (unsigned I = 0; I < 20000; ++I)
      Memory[(Round * 7919u + I * 64u) % sizeof(Memory)] += (unsigned char)I;
  }
}
