// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Private mappings of files that become shorter after they were written to:
// what was stored is gone, and reading it would be a fault. Once the program
// makes the file shorter itself, once another process does, of which nobody is
// told (not with an argument).
#include "Check.h"
#include <sys/mman.h>
#include <sys/wait.h>

enum { Page = 4096, Pages = 8 };

static void compute(void) {
  volatile unsigned Sum = 0;
  for (unsigned I = 0; I < 100000; ++I)
    Sum += I;
}

static void cut(int File, int ByChild) {
  CHECK(!ftruncate(File, Pages * Page));
  unsigned char *P =
      mmap(NULL, Pages * Page, PROT_READ | PROT_WRITE, MAP_PRIVATE, File, 0);
  int Go[2], Done[2];
  char Word = 0;
  CHECK(P != MAP_FAILED && !pipe(Go) && !pipe(Done));
  if (ByChild && fork() == 0) {
    CHECK(read(Go[0], &Word, 1) == 1 && !ftruncate(File, 2 * Page) &&
          write(Done[1], &Word, 1) == 1);
    _exit(0);
  }
  // The file becomes shorter in the block that stores.
  for (unsigned I = 0; I < Pages; ++I)
    P[I * Page + 8 * I] = (unsigned char)(I + 1);
  if (ByChild)
    CHECK(write(Go[1], &Word, 1) == 1 && read(Done[0], &Word, 1) == 1);
  else
    CHECK(!ftruncate(File, 2 * Page));
  compute();
  hashBytes(P, 2 * Page);
  // What comes back is empty.
  CHECK(!ftruncate(File, Pages * Page));
  hashBytes(P, Pages * Page);
  P[3 * Page] = 9;
  compute();
  hashBytes(P, Pages * Page);
  if (ByChild)
    CHECK(wait(NULL) > 0);
  CHECK(!munmap(P, Pages * Page));
}

int main(int Count, char **Arguments) {
  (void)Arguments;
  char Name[] = "shorter_file.XXXXXX";
  int File = mkstemp(Name);
  CHECK(File >= 0 && !unlink(Name));
  cut(File, 0);
  if (Count == 1)
    cut(File, 1);
  printf("shorter file done %016lx\n", (unsigned long)Hash);
  return 0;
}
