// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the test programs share: a check that ends the program with a message, a
// running hash to print instead of long tables, and a random number generator
// that needs no C library.
#ifndef CHRONICLE_TEST_PROGRAMS_CHECK_H
#define CHRONICLE_TEST_PROGRAMS_CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(Condition)                                                       \
  do {                                                                         \
    if (!(Condition)) {                                                        \
      fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__,         \
              #Condition);                                                     \
      _exit(99);                                                               \
    }                                                                          \
  } while (0)

static uint64_t Hash = 0xcbf29ce484222325u;

__attribute__((unused)) static void hashBytes(const void *Data, size_t Size) {
  const unsigned char *P = (const unsigned char *)Data;
  for (size_t I = 0; I < Size; ++I)
    Hash = (Hash ^ P[I]) * 0x100000001b3u;
}
__attribute__((unused)) static void hashWord(uint64_t Word) {
  hashBytes(&Word, sizeof(Word));
}

static uint64_t Seed = 88172645463325252u;
__attribute__((unused)) static uint64_t nextRandom(void) {
  Seed ^= Seed << 13;
  Seed ^= Seed >> 7;
  Seed ^= Seed << 17;
  return Seed;
}

// Values that are likely to break arithmetic, then random ones.
__attribute__((unused)) static uint64_t interesting(unsigned I) {
  static const uint64_t Special[] = {0,
                                     1,
                                     2,
                                     0x7f,
                                     0x80,
                                     0xff,
                                     0x7fff,
                                     0x8000,
                                     0xffff,
                                     0x7fffffff,
                                     0x80000000,
                                     0xffffffff,
                                     0x100000000,
                                     0x7fffffffffffffff,
                                     0x8000000000000000,
                                     0xffffffffffffffff};
  return I < sizeof(Special) / sizeof(*Special) ? Special[I] : nextRandom();
}

#endif
