// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stores to one page, then to hundreds, then to one again, for half a million
// instructions or more each time. The length of blocks follows.
#define PAGES 512

static volatile char memory[PAGES][4096];

static void store(unsigned pages) {
  for (unsigned i = 0; i < 200000; i++)
    memory[i % pages][i % 4096] = (char)i;
}

int main(void) {
  store(1);
  store(PAGES);
  store(1);
  return 0;
}
