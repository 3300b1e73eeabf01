// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stores to private mappings of files, which then become shorter: what was
// stored is gone, and reading it would fault. First the program shortens the
// file itself. Then, without an argument, another process shortens it, which
// the recorder does not see; and once more with a fork right after it, at which
// the recorder logs all stores while Valgrind blocks every signal. Last comes a
// device, which has no length.
#include "Check.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { Page = 4096, Pages = 8 };

static unsigned char *map(size_t Size, int Flags, int File) {
  void *P = mmap(NULL, Size, PROT_READ | PROT_WRITE, Flags, File, 0);
  CHECK(P != MAP_FAILED);
  return P;
}

static void compute(void) {
  volatile unsigned Sum = 0;
  for (unsigned I = 0; I < 100000; ++I)
    Sum += I;
}

static void cut(int File, int ByChild, int ThenFork) {
  CHECK(!ftruncate(File, Pages * Page));
  unsigned char *P = map(Pages * Page, MAP_PRIVATE, File);
  int Go[2], Done[2];
  char Word = 0;
  CHECK(!pipe(Go) && !pipe(Done));
  if (ByChild && fork() == 0) {
    CHECK(read(Go[0], &Word, 1) == 1 && !ftruncate(File, 2 * Page) &&
          write(Done[1], &Word, 1) == 1);
    _exit(0);
  }
  // From here on, other processes may write to memory after a fork.
  if (ThenFork)
    map(Page, MAP_SHARED | MAP_ANONYMOUS, -1);
  // The file becomes shorter in the same block as the store.
  for (unsigned I = 0; I < Pages; ++I)
    P[I * Page + 8 * I] = (unsigned char)(I + 1);
  if (ByChild)
    CHECK(write(Go[1], &Word, 1) == 1 && read(Done[0], &Word, 1) == 1);
  else
    CHECK(!ftruncate(File, 2 * Page));
  if (ThenFork && fork() == 0)
    _exit(0);
  compute();
  hashBytes(P, 2 * Page);
  // The pages that come back are empty.
  CHECK(!ftruncate(File, Pages * Page));
  hashBytes(P, Pages * Page);
  P[3 * Page] = 9;
  compute();
  hashBytes(P, Pages * Page);
  for (int Children = ByChild + ThenFork; Children; --Children)
    CHECK(wait(NULL) > 0);
  CHECK(!munmap(P, Pages * Page));
}

static void cutDevice(void) {
  int Device = open("/dev/zero", O_RDWR);
  CHECK(Device >= 0);
  unsigned char *P = map(Page, MAP_PRIVATE, Device);
  P[8] = 5;
  CHECK(open("/dev/zero", O_RDWR | O_TRUNC) >= 0);
  compute();
  hashBytes(P, Page);
}

int main(int Count, char **Arguments) {
  (void)Arguments;
  char Name[] = "shorter_file.XXXXXX";
  int File = mkstemp(Name);
  CHECK(File >= 0 && !unlink(Name));
  cut(File, 0, 0);
  if (Count == 1) {
    cut(File, 1, 0);
    cut(File, 1, 1);
  }
  cutDevice();
  printf("shorter file done %016lx\n", (unsigned long)Hash);
  return 0;
}
