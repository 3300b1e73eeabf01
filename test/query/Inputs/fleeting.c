// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that comes to be, is written and is empty again, all within a few
// instructions: by unmapping, by advice, and by a new mapping over it. Between
// rounds it computes for a while, so that some are alone in their block.
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

#define AT ((char *)0x10000000)

static char *map(void) {
  char *p = mmap(AT, 16384, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (p != AT)
    __builtin_trap();
  return p;
}

static volatile uint64_t sink;
static void pause_a_while(void) {
  for (int i = 0; i < 200000; i++)
    sink += i;
}

static void store(char *p, uint64_t value) { *(volatile uint64_t *)p = value; }

int main(void) {
  char *p = map();
  store(p + 8, 1);
  madvise(p, 4096, MADV_DONTNEED);
  pause_a_while();
  store(p + 4096 + 8, 2);
  madvise(p + 4096, 4096, MADV_DONTNEED);
  store(p + 4096 + 8, 3);
  pause_a_while();
  store(p + 8192 + 8, 4);
  munmap(p, 16384);
  pause_a_while();
  p = map();
  store(p + 12288 + 8, 5);
  p = map();
  pause_a_while();
  store(p + 12288 + 16, 6);
  printf("last %lu\n", *(uint64_t *)(p + 12288 + 16));
  return 0;
}
