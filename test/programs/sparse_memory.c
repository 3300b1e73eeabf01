// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reserves gigabytes and writes few of their pages: around every multiple of
// 2 MiB, by stores that lie across page boundaries.
#include "Check.h"
#include <stdint.h>
#include <sys/mman.h>

static const size_t Size = (size_t)4 << 30, Part = 2 << 20, Page = 4096;

static void store(unsigned char *At, uint64_t Value) {
  *(volatile uint64_t *)At = Value;
}

int main(void) {
  unsigned char *P = mmap(NULL, Size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(P != MAP_FAILED);
  unsigned char *First = P + (Part - (uintptr_t)P % Part);
  // Stores to pages far apart, one after the other. First each page is new in
  // its block; the second time it is known.
  for (unsigned Round = 0; Round < 3; ++Round)
    for (size_t At = Part; At + Part < Size - Part; At += 37 * Part)
      for (int Pages = -3; Pages <= 3; ++Pages) {
        unsigned char *Boundary = First + At + Pages * (long)Page;
        store(Boundary - 1 - Round, At + Round);
        store(Boundary - 64 + Round, ~At);
        volatile unsigned Sum = 0;
        for (unsigned I = 0; I < 50; ++I)
          Sum += I;
      }
  for (size_t At = Part; At + Part < Size - Part; At += 37 * Part)
    hashBytes(First + At - 4 * Page, 8 * Page);
  printf("sparse memory done %016lx\n", (unsigned long)Hash);
  return 0;
}
