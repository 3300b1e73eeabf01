// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes system calls whose effects on memory Valgrind 3.19 does not report:
// pselect6, alone and while another thread runs, and madvise that empties
// pages.
#include "Check.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/select.h>

static atomic_int Stop;

static int waitReadable(int Ready, int NotReady) {
  fd_set Set;
  FD_ZERO(&Set);
  FD_SET(Ready, &Set);
  FD_SET(NotReady, &Set);
  struct timespec Timeout = {5, 0};
  int Highest = Ready > NotReady ? Ready : NotReady;
  CHECK(pselect(Highest + 1, &Set, NULL, NULL, &Timeout, NULL) == 1);
  CHECK(FD_ISSET(Ready, &Set) && !FD_ISSET(NotReady, &Set));
  hashBytes(&Set, sizeof(Set));
  return 1;
}

static void *spin(void *Unused) {
  volatile unsigned long Count = 0;
  while (!Stop)
    ++Count;
  return NULL;
}

int main(void) {
  int A[2], B[2];
  CHECK(pipe(A) == 0 && pipe(B) == 0 && write(A[1], "x", 1) == 1);
  for (int I = 0; I < 50; ++I)
    waitReadable(A[0], B[0]);
  pthread_t Thread;
  CHECK(pthread_create(&Thread, NULL, spin, NULL) == 0);
  for (int I = 0; I < 20; ++I)
    waitReadable(A[0], B[0]);
  Stop = 1;
  pthread_join(Thread, NULL);

  size_t Size = 1 << 20;
  unsigned char *P = mmap(NULL, Size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(P != MAP_FAILED);
  memset(P, 0x5a, Size);
  CHECK(madvise(P + 4096, Size / 2, MADV_DONTNEED) == 0);
  unsigned long Sum = 0;
  for (size_t I = 0; I < Size; ++I)
    Sum += P[I];
  CHECK(Sum == 0x5aul * (Size / 2));
  printf("unreported done %016lx\n", (unsigned long)Hash);
  return 0;
}
