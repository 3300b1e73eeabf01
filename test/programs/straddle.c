// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes stores of every width near the end of a page, of a 512-byte stretch and
// of a granule, so that they reach into the next one. Also stores right before
// the memory is protected, unmapped, moved, emptied or mapped again.
#define _GNU_SOURCE
#include "Check.h"
#include <immintrin.h>
#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 16 };

static char *pages(void) {
  char *P = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(P != MAP_FAILED);
  return P;
}

#define STORE(Type, At, Value)                                                 \
  do {                                                                         \
    Type Stored = (Type)(Value);                                               \
    __builtin_memcpy(At, &Stored, sizeof(Stored));                             \
  } while (0)

// Makes one store of every width at the address. The compiler may not merge
// them.
static void storeAll(char *At, uint64_t Value) {
  STORE(uint8_t, At, Value);
  __asm__ volatile("" ::: "memory");
  STORE(uint16_t, At, Value);
  __asm__ volatile("" ::: "memory");
  STORE(uint32_t, At, Value);
  __asm__ volatile("" ::: "memory");
  STORE(uint64_t, At, Value);
  __asm__ volatile("" ::: "memory");
  _mm_storeu_si128((__m128i *)At, _mm_set1_epi32((int)Value));
  __asm__ volatile("" ::: "memory");
  _mm256_storeu_si256((__m256i *)At, _mm256_set1_epi32((int)Value));
  __asm__ volatile("" ::: "memory");
}

static void straddle(void) {
  char *P = pages();
  for (int Edge = 512; Edge < PAGES * PAGE; Edge += 512)
    for (int Before = 1; Before <= 33; Before += Edge % PAGE ? 8 : 1)
      storeAll(P + Edge - Before, (uint64_t)Edge * 1000 + Before);
  hashBytes(P, PAGES * PAGE);
  CHECK(munmap(P, PAGES * PAGE) == 0);
}

// Makes the first Last + 1 of several stores to one address plus constants, out
// of order and without a branch between them.
__attribute__((always_inline)) static inline void
storeSome(char *At, uint64_t Value, const int Last) {
  int Done = 0;
#define PART(Type, Offset)                                                     \
  STORE(Type, At + (Offset), Value + Done);                                    \
  __asm__ volatile("" ::: "memory");                                           \
  if (Done++ == Last)                                                          \
    return;
  PART(uint64_t, 0)
  PART(uint32_t, 4)
  PART(uint64_t, 56)
  PART(uint64_t, -8)
  PART(uint8_t, 64)
  PART(uint64_t, -16)
  PART(uint64_t, -48)
  PART(uint16_t, -57)
  PART(uint64_t, 20)
  PART(uint32_t, 140)
  PART(uint64_t, -140)
#undef PART
}

static void group(char *At, uint64_t Value, int Last) {
  switch (Last) {
#define CASE(N)                                                                \
  case N:                                                                      \
    storeSome(At, Value, N);                                                   \
    break;
    CASE(0)
    CASE(1)
    CASE(2)
    CASE(3)
    CASE(4)
    CASE(5)
    CASE(6)
    CASE(7)
    CASE(8)
    CASE(9)
    CASE(10)
#undef CASE
  }
}

// Each store is near the end of a stretch that has no other stores.
static void groups(void) {
  enum { EACH = 4 * PAGE, LASTS = 11 };
  const size_t Length = (size_t)EACH * LASTS * 30;
  char *P = mmap(NULL, Length, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(P != MAP_FAILED);
  char *At = P + 2 * PAGE;
  for (int Before = -60; Before < 90; Before += 5)
    for (int Last = 0; Last < LASTS; ++Last, At += EACH) {
      char *Edge = At - (Last & 1 ? 512 : 0);
      group(Edge - Before, (uint64_t)Before * 1000003, Last);
      hashBytes(Edge - 256, 512);
    }
}

// Only the last byte that a store can reach lies in the second page.
static void straddleAlone(void) {
  for (int Size = 2; Size <= 32; Size *= 2) {
    char *P = pages();
    char *At = P + PAGE - Size + 1;
    if (Size == 2)
      STORE(uint16_t, At, 0x1122);
    else if (Size == 4)
      STORE(uint32_t, At, 0x11223344);
    else if (Size == 8)
      STORE(uint64_t, At, 0x1122334455667788);
    else if (Size == 16)
      _mm_storeu_si128((__m128i *)At, _mm_set1_epi8(7));
    else
      _mm256_storeu_si256((__m256i *)At, _mm256_set1_epi8(9));
    // Unmaps the first page only; the second keeps what was stored to it.
    CHECK(munmap(P, PAGE) == 0);
    hashBytes(P + PAGE, 64);
    CHECK(munmap(P + PAGE, (PAGES - 1) * PAGE) == 0);
  }
}

static void change(void) {
  char *P = pages();
  storeAll(P + 3 * PAGE - 5, 1);
  CHECK(mprotect(P + 2 * PAGE, PAGE, PROT_NONE) == 0);
  storeAll(P + 4 * PAGE - 9, 2);
  CHECK(mprotect(P + 2 * PAGE, PAGE, PROT_READ | PROT_WRITE) == 0);
  hashBytes(P, PAGES * PAGE);
  storeAll(P + 5 * PAGE - 5, 3);
  CHECK(madvise(P + 4 * PAGE, PAGE, MADV_DONTNEED) == 0);
  hashBytes(P, PAGES * PAGE);
  storeAll(P + 7 * PAGE - 5, 4);
  CHECK(mmap(P + 6 * PAGE, PAGE, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == P + 6 * PAGE);
  hashBytes(P, PAGES * PAGE);
  storeAll(P + 9 * PAGE - 5, 5);
  char *Moved = mremap(P + 8 * PAGE, PAGE, 4 * PAGE, MREMAP_MAYMOVE);
  CHECK(Moved != MAP_FAILED);
  storeAll(Moved + PAGE - 5, 6);
  hashBytes(Moved, 4 * PAGE);
  hashBytes(P + 9 * PAGE, PAGE);
  // Another mapping uses the addresses again.
  for (int I = 0; I < 50; ++I) {
    char *Q = pages();
    storeAll(Q + (1 + I % (PAGES - 1)) * PAGE - 1 - I % 32, I);
    hashBytes(Q, PAGES * PAGE);
    CHECK(munmap(Q, PAGES * PAGE) == 0);
  }
}

// Moves the end of the heap back and forth over what was stored.
static void shrink(void) {
  char *End = sbrk(8 * PAGE);
  CHECK(End != (void *)-1);
  for (int I = 0; I < 7; ++I)
    storeAll(End + (I + 1) * PAGE - 3, I);
  CHECK(sbrk(-5 * PAGE) != (void *)-1);
  CHECK(sbrk(5 * PAGE) != (void *)-1);
  hashBytes(End, 8 * PAGE);
}

int main(void) {
  straddle();
  groups();
  straddleAlone();
  change();
  shrink();
  printf("stored %016llx\n", (unsigned long long)Hash);
  return 0;
}
