// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Uses instructions and calls whose results come from outside the program, so
// that replay cannot recompute them.
#define _GNU_SOURCE
#include "Check.h"
#include <sched.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>

static volatile uint64_t Sink;

int main(void) {
  for (uint32_t Leaf = 0; Leaf < 0x20; ++Leaf) {
    uint32_t Eax = Leaf, Ebx, Ecx = 0, Edx;
    __asm__ volatile("cpuid" : "+a"(Eax), "=b"(Ebx), "+c"(Ecx), "=d"(Edx));
    Sink += Eax ^ Ebx ^ Ecx ^ Edx;
  }
  uint64_t Previous = 0;
  for (int I = 0; I < 200; ++I) {
    uint32_t Low, High, Aux;
    __asm__ volatile("rdtsc" : "=a"(Low), "=d"(High));
    uint64_t Now = (uint64_t)High << 32 | Low;
    CHECK(Now >= Previous);
    Previous = Now;
    __asm__ volatile("rdtscp" : "=a"(Low), "=d"(High), "=c"(Aux));
    Sink += Low ^ Aux;
  }
  uint32_t Xcr, Top;
  __asm__ volatile("xgetbv" : "=a"(Xcr), "=d"(Top) : "c"(0));
  Sink += Xcr;
  struct timespec Clock;
  struct timeval Day;
  for (int I = 0; I < 50; ++I) {
    CHECK(clock_gettime(CLOCK_MONOTONIC, &Clock) == 0);
    CHECK(gettimeofday(&Day, NULL) == 0);
    Sink +=
        (uint64_t)Clock.tv_nsec + (uint64_t)Day.tv_usec + (uint64_t)time(NULL);
    Sink += (uint64_t)sched_getcpu() + (uint64_t)clock();
  }
  unsigned char Bytes[64];
  CHECK(getrandom(Bytes, sizeof(Bytes), 0) == sizeof(Bytes));
  hashBytes(Bytes, sizeof(Bytes)), hashBytes((void *)getauxval(AT_RANDOM), 16);
  Sink += Hash + (uint64_t)getpid();
  nanosleep(&(struct timespec){0, 1000000}, NULL);
  printf("time goes on\n");
  return 0;
}
