// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Changes memory maps. They are anonymous or of files, private or shared; they
// are mapped over each other, moved, grown, protected, partly unmapped and
// discarded. Also moves the end of the heap and maps past the end of a file.
#define _GNU_SOURCE
#include "Check.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

enum { PAGE = 4096 };
static sigjmp_buf Back;
static int File;

static void jumpOut(int Number) { siglongjmp(Back, Number); }

static char *map(void *At, size_t Size, int Protection, int Flags, int Fd,
                 off_t Offset) {
  char *P = mmap(At, Size, Protection, Flags, Fd, Offset);
  CHECK(P != MAP_FAILED);
  return P;
}
static char *anonymous(size_t Size) {
  return map(NULL, Size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
             -1, 0);
}

static void makeFile(void) {
  char Name[] = "/tmp/chronicle-mapping-XXXXXX", Text[PAGE];
  File = mkstemp(Name);
  CHECK(File >= 0 && unlink(Name) == 0);
  for (int I = 0; I < 8; ++I) {
    memset(Text, 'a' + I, PAGE);
    CHECK(write(File, Text, I == 7 ? 100 : PAGE) > 0);
  }
}

static void private(void) {
  char *P = map(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, File, 0);
  CHECK(P[0] == 'a' && P[3 * PAGE + 5] == 'd' && P[7 * PAGE + 99] == 'h' &&
        P[7 * PAGE + 100] == 0);
  P[PAGE] = 'X'; // copied on write: the file does not change
  char Byte;
  CHECK(pread(File, &Byte, 1, PAGE) == 1 && Byte == 'b');
  // Maps an anonymous page over the middle, then the file at another offset
  // over that.
  map(P + 2 * PAGE, PAGE, PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  CHECK(P[2 * PAGE] == 0 && P[PAGE] == 'X');
  P[2 * PAGE] = 'Y';
  map(P + 2 * PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, File, 5 * PAGE);
  CHECK(P[2 * PAGE] == 'f' && P[3 * PAGE] == 'd');
  CHECK(munmap(P + 4 * PAGE, PAGE) == 0 && P[5 * PAGE] == 'f');
  CHECK(munmap(P, 8 * PAGE) == 0);
}

static void shared(void) {
  char *P = map(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, File, 0);
  char *Q = map(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, File, PAGE);
  P[PAGE + 7] = '!';
  CHECK(Q[7] == '!');
  Q[8] = '?';
  CHECK(P[PAGE + 8] == '?');
  char Bytes[2];
  CHECK(pread(File, Bytes, 2, PAGE + 7) == 2 && Bytes[0] == '!' &&
        Bytes[1] == '?');
  // A write by a system call shows in the mapping.
  CHECK(pwrite(File, "syscall", 7, PAGE + 100) == 7);
  CHECK(!memcmp(Q + 100, "syscall", 7) && P[PAGE + 100] == 's');
  // A read into one mapping shows in the other.
  int Zero = open("/dev/zero", O_RDONLY);
  CHECK(read(Zero, P + PAGE + 100, 3) == 3 && Q[102] == 0 && Q[103] == 'c');
  close(Zero);
  CHECK(msync(P, 2 * PAGE, MS_SYNC) == 0);
  CHECK(munmap(P, 2 * PAGE) == 0 && Q[7] == '!');
  P = map(NULL, PAGE, PROT_READ, MAP_SHARED, File, PAGE);
  CHECK(P[8] == '?');
  munmap(P, PAGE), munmap(Q, 2 * PAGE);
}

static void moving(void) {
  char *P = anonymous(4 * PAGE);
  for (int I = 0; I < 4; ++I)
    P[I * PAGE] = (char)('0' + I);
  anonymous(PAGE);
  char *Q = mremap(P, 4 * PAGE, 64 * PAGE, MREMAP_MAYMOVE);
  CHECK(Q != MAP_FAILED && Q[3 * PAGE] == '3' && Q[63 * PAGE] == 0);
  Q[63 * PAGE] = 'z';
  Q = mremap(Q, 64 * PAGE, 2 * PAGE, 0);
  CHECK(Q != MAP_FAILED && Q[PAGE] == '1');
  char *To = anonymous(2 * PAGE);
  To[0] = 'o';
  CHECK(mremap(Q, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, To) == To);
  CHECK(To[0] == '0' && To[PAGE] == '1');
  // Discarded pages are zero again.
  To[10] = 'k';
  CHECK(madvise(To, PAGE, MADV_DONTNEED) == 0 && To[10] == 0 &&
        To[PAGE] == '1');
}

static void protection(void) {
  char *P = map(NULL, 3 * PAGE, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(mprotect(P + PAGE, PAGE, PROT_READ | PROT_WRITE) == 0);
  P[PAGE] = 5;
  CHECK(mprotect(P + PAGE, PAGE, PROT_NONE) == 0);
  signal(SIGSEGV, jumpOut);
  if (sigsetjmp(Back, 1) == 0) {
    P[PAGE] = 6;
    CHECK(0);
  }
  CHECK(mprotect(P, 3 * PAGE, PROT_READ) == 0 && P[PAGE] == 5 && P[0] == 0);
  if (sigsetjmp(Back, 1) == 0) {
    P[PAGE] = 6;
    CHECK(0);
  }
  signal(SIGBUS, jumpOut);
  char *Past =
      map(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, File, 0);
  CHECK(Past[7 * PAGE + 50] == 'h');
  if (sigsetjmp(Back, 1) == 0) {
    Past[12 * PAGE] = 1;
    CHECK(0);
  }
  munmap(Past, 16 * PAGE);
}

static void heap(void) {
  char *Start = sbrk(0);
  CHECK(sbrk(20 * PAGE) == Start);
  for (int I = 0; I < 20; ++I)
    Start[I * PAGE] = (char)I;
  CHECK(sbrk(-10 * PAGE) != (void *)-1 && sbrk(10 * PAGE) != (void *)-1);
  // Memory that was given back and taken again is zero.
  CHECK(Start[9 * PAGE] == 9 && Start[15 * PAGE] == 0);
  CHECK(sbrk(-20 * PAGE) != (void *)-1);
}

static void many(void) {
  // Maps and unmaps often enough that addresses are used again.
  uint64_t Sum = 0;
  for (int I = 0; I < 300; ++I) {
    size_t Size = (size_t)(1 + I % 7) * PAGE;
    char *P = anonymous(Size);
    CHECK(P[Size - 1] == 0);
    memset(P, I, Size);
    Sum += (unsigned char)P[Size / 2];
    CHECK(munmap(P, Size) == 0);
  }
  printf("sum %lu\n", Sum);
}

int main(void) {
  makeFile();
  private();
  shared();
  moving();
  protection();
  heap();
  many();
  printf("mappings done\n");
  return 0;
}
