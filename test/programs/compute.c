// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a loop over a table. The first argument is the number of iterations in
// millions (about ten instructions each), the second the table's size in KB.
#include "Check.h"

int main(int Count, char **Arguments) {
  uint64_t Millions = Count > 1 ? strtoull(Arguments[1], NULL, 10) : 1;
  uint64_t Words = (Count > 2 ? strtoull(Arguments[2], NULL, 10) : 1024) * 128;
  uint64_t *Table = calloc(Words, 8);
  CHECK(Table && Words);
  uint64_t X = 1, Window = 0;
  for (uint64_t I = 0; I < Millions * 1000000; ++I) {
    X = X * 6364136223846793005u + 1442695040888963407u;
    // Works in one place for a while, then in another, as real programs do.
    if (I % 4096 == 0)
      Window = (X >> 20) % (Words / 64) * 64;
    Table[Window + I % 64] += X >> 33;
  }
  for (uint64_t I = 0; I < Words; ++I)
    hashWord(Table[I]);
  printf("computed %016lx\n", Hash);
  return 0;
}
