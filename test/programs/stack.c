// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Grows the stack: by deep recursion, in one leap, and by variable-length
// arrays.
#include "Check.h"
#include <alloca.h>
#include <sys/mman.h>

__attribute__((noinline)) static unsigned deep(unsigned Depth) {
  volatile unsigned char Frame[200];
  Frame[Depth % 200] = (unsigned char)Depth;
  if (Depth == 0)
    return Frame[0];
  return deep(Depth - 1) + Frame[Depth % 200];
}

__attribute__((noinline)) static unsigned leap(size_t Size) {
  unsigned char *Area = alloca(Size);
  Area[0] = 1; // touches a page far below the mapped ones
  Area[Size - 1] = 2;
  return Area[0] + Area[Size - 1] + Area[Size / 2] * 0u;
}

__attribute__((noinline)) static unsigned arrays(int Count) {
  unsigned Sum = 0;
  for (int I = 1; I < Count; ++I) {
    volatile char Array[I * 100];
    memset((void *)Array, I, sizeof(Array));
    Sum += (unsigned char)Array[I];
  }
  return Sum;
}

// Each time the stack has another position among the mappings, counted from the
// lowest.
static void leapAmongMappings(void) {
  for (unsigned I = 0; I < 8; ++I) {
    CHECK(mmap(NULL, 4096, I % 2 ? PROT_READ : PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
    printf("%u\n", leap(6000000 + (I + 1) * 100000));
  }
}

int main(void) {
  printf("%u\n", deep(20000));
  printf("%u\n", leap(1000000));
  printf("%u\n", leap(6000000));
  leapAmongMappings();
  printf("%u\n", arrays(200));
  return 0;
}
