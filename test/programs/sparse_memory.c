// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gigabytes that are reserved, of which few pages are ever written: around
// every multiple of 2 MiB, by stores that lie across the boundaries of pages.
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
  // One after the other, far apart, each page for the first time in some block;
  // and again, when the page is known.
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
