// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maps memory high in the address space: by a hint, as V8 does, or, with an
// argument, at a fixed address.
#include "Check.h"
#include <sys/mman.h>

static volatile unsigned char *map(unsigned long Where, int Flags) {
  unsigned char *P = mmap((void *)Where, 1 << 20, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | Flags, -1, 0);
  CHECK(P != MAP_FAILED);
  return P;
}
static void use(volatile unsigned char *P) {
  unsigned Sum = 0;
  for (int I = 0; I < 1 << 20; I += 5)
    P[I] = (unsigned char)(I * 7);
  for (int I = 0; I < 1 << 20; I += 5)
    Sum += P[I];
  hashBytes(&Sum, sizeof(Sum));
}

int main(int Count, char **Arguments) {
  for (unsigned long Where = 0x0800; Where < 0x7000; Where += 0x0ef1)
    use(map(Where << 32, 0));
  if (Count > 1) {
    volatile unsigned char *Low = map(0, 0), *High;
    memset((void *)Low, 3, 100);
    // Valgrind refuses addresses that it does not give to programs. Then there
    // is nothing more to test.
    High = mmap((void *)0x500000000000, 1 << 20, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    use(Low);
    if (High == (void *)0x500000000000) {
      use(High);
      use(Low);
    }
  }
  printf("high memory done %016lx\n", (unsigned long)Hash);
  return 0;
}
