// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Uses memory that something else writes too: one memfd mapped twice; anonymous
// memory and System V segments shared with a child; a file that a child
// changes; and a child that writes into its parent with process_vm_writev. The
// argument chooses one.
#define _GNU_SOURCE
#include "Check.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum { SIZE = 16384 };

static void waitFor(pid_t Child) {
  int Status;
  while (waitpid(Child, &Status, 0) < 0)
    CHECK(errno == EINTR);
  CHECK(Status == 0);
}

static void *mapShared(int File, int Flags) {
  void *P =
      mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | Flags, File, 0);
  CHECK(P != MAP_FAILED);
  return P;
}

static void twice(void) {
  int File = memfd_create("twice", 0);
  CHECK(File >= 0 && ftruncate(File, SIZE) == 0);
  uint32_t *A = mapShared(File, 0), *B = mapShared(File, 0);
  for (uint32_t I = 0; I < SIZE / 4; ++I) {
    A[I] = I * 3;
    CHECK(B[I] == I * 3);
    B[I] += 1;
    CHECK(A[I] == I * 3 + 1);
  }
  close(File);
  munmap(A, SIZE);
  CHECK(B[100] == 301);
}

// Parent and child take turns: each round both read what the other wrote.
static void takeTurns(volatile uint64_t *Words) {
  enum { ROUNDS = 200 };
  pid_t Child = fork();
  CHECK(Child >= 0);
  if (Child == 0) {
    for (uint64_t Round = 0; Round < ROUNDS; ++Round) {
      while (Words[0] != 2 * Round + 1)
        usleep(1);
      for (int I = 2; I < 500; ++I)
        Words[I] = Words[I] * 7 + Round;
      Words[0] = 2 * Round + 2;
    }
    _exit(0);
  }
  for (uint64_t Round = 0; Round < ROUNDS; ++Round) {
    for (int I = 2; I < 500; ++I)
      Words[I] += (uint64_t)I;
    Words[0] = 2 * Round + 1;
    while (Words[0] != 2 * Round + 2)
      usleep(1);
    hashWord(Words[2]), hashWord(Words[499]);
  }
  waitFor(Child);
}

static void anonymous(void) { takeTurns(mapShared(-1, MAP_ANONYMOUS)); }

static void sysv(void) {
  int Id = shmget(IPC_PRIVATE, SIZE, IPC_CREAT | 0600);
  CHECK(Id >= 0);
  uint64_t *A = shmat(Id, NULL, 0), *B = shmat(Id, NULL, 0);
  CHECK(A != (void *)-1 && B != (void *)-1 && shmctl(Id, IPC_RMID, NULL) == 0);
  A[600] = 77;
  CHECK(B[600] == 77);
  takeTurns(B);
  CHECK(A[0] == B[0] && shmdt(B) == 0 && A[600] == 77 && shmdt(A) == 0);
}

static void file(void) {
  char Name[] = "/tmp/chronicle-shared-XXXXXX";
  int File = mkstemp(Name);
  CHECK(File >= 0 && unlink(Name) == 0 && ftruncate(File, SIZE) == 0);
  takeTurns(mapShared(File, 0));
  // A system call of the child writes it; the mapping shows it.
  volatile char *P = mapShared(File, 0);
  pid_t Child = fork();
  if (Child == 0)
    _exit(pwrite(File, "from outside", 12, 9000) == 12 ? 0 : 1);
  waitFor(Child);
  CHECK(!memcmp((const char *)P + 9000, "from outside", 12));
}

static void intrusion(void) {
  // A child changes the parent's private memory, on the heap and on the stack.
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  static volatile uint64_t Target[1024];
  volatile uint64_t Local[64] = {0};
  int Go[2];
  CHECK(pipe(Go) == 0);
  pid_t Parent = getpid(), Child = fork();
  if (Child == 0) {
    uint64_t Data[64];
    for (int I = 0; I < 64; ++I)
      Data[I] = (uint64_t)I + 1000;
    struct iovec From = {Data, sizeof(Data)};
    struct iovec To[] = {{(void *)(Target + 100), 256}, {(void *)Local, 256}};
    _exit(process_vm_writev(Parent, &From, 1, To, 2, 0) == 512 ? 0 : errno);
  }
  int Status;
  CHECK(waitpid(Child, &Status, 0) == Child);
  if (WEXITSTATUS(Status) == EPERM) {
    printf("process_vm_writev is not allowed here\n");
    return;
  }
  CHECK(Status == 0);
  uint64_t Sum = 0;
  for (int I = 0; I < 32; ++I)
    Sum += Target[100 + I] + Local[I];
  CHECK(Sum == 64 * 1000 + 63 * 64 / 2);
}

int main(int Count, char **Arguments) {
  const char *What = Count > 1 ? Arguments[1] : "";
  if (!strcmp(What, "twice"))
    twice();
  else if (!strcmp(What, "anonymous"))
    anonymous();
  else if (!strcmp(What, "sysv"))
    sysv();
  else if (!strcmp(What, "file"))
    file();
  else if (!strcmp(What, "intrusion"))
    intrusion();
  else
    return 2;
  printf("%s %016lx\n", What, Hash);
  return 0;
}
