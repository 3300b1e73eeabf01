// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads block in system calls whose buffers they have just stored to. Another
// thread then runs for longer than a block. Meanwhile the kernel fills the
// buffers, and that thread stores to the bytes right beside them.
#include "Check.h"
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>

static int Pipe[2], Socket[2];
static volatile int Waiting;

// Ends in the middle of a granule. The other thread's bytes follow.
static struct Buffer {
  unsigned char Before[3];
  unsigned char Bytes[14];
  unsigned char After[7];
} __attribute__((aligned(8))) Buffers[3];

static void fill(int Number) {
  memset(&Buffers[Number], 0xa0 + Number, sizeof(Buffers[Number]));
}
static void check(int Number, int Size) {
  for (int I = 0; I < (int)sizeof(Buffers[Number].Bytes); ++I)
    CHECK(Buffers[Number].Bytes[I] == (I < Size ? 'x' : 0xa0 + Number));
  hashBytes(Buffers[Number].Bytes, sizeof(Buffers[Number].Bytes));
}

static void *reads(void *Unused) {
  fill(0);
  Waiting = 1;
  CHECK(read(Pipe[0], Buffers[0].Bytes, 14) == 14);
  check(0, 14);
  return Unused;
}
static void *receives(void *Unused) {
  fill(1);
  struct iovec Parts[2] = {{Buffers[1].Bytes, 5}, {Buffers[1].Bytes + 5, 9}};
  Waiting = 1;
  CHECK(readv(Socket[0], Parts, 2) == 14);
  check(1, 14);
  return Unused;
}
static void *polls(void *Unused) {
  struct pollfd Set[2] = {{Pipe[0], POLLIN, 0x5555},
                          {Socket[0], POLLIN, 0x5555}};
  Waiting = 1;
  CHECK(poll(Set, 2, 10000) == 1);
  CHECK(Set[0].revents == POLLIN && Set[1].revents == 0);
  CHECK(read(Pipe[0], Buffers[2].Bytes, 14) == 14);
  return Unused;
}
static void *selects(void *Unused) {
  fd_set Set;
  FD_ZERO(&Set);
  FD_SET(Pipe[0], &Set);
  FD_SET(Socket[0], &Set);
  struct timespec Timeout = {10, 0};
  Waiting = 1;
  CHECK(pselect(1 + (Pipe[0] > Socket[0] ? Pipe[0] : Socket[0]), &Set, NULL,
                NULL, &Timeout, NULL) == 1);
  CHECK(FD_ISSET(Pipe[0], &Set) && !FD_ISSET(Socket[0], &Set));
  CHECK(read(Pipe[0], Buffers[2].Bytes, 14) == 14);
  return Unused;
}

int main(void) {
  static void *(*const Kinds[])(void *) = {reads, receives, polls, selects};
  CHECK(pipe(Pipe) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, Socket) == 0);
  for (int I = 0; I < 12; ++I) {
    pthread_t Thread;
    Waiting = 0;
    CHECK(pthread_create(&Thread, NULL, Kinds[I % 4], NULL) == 0);
    while (!Waiting)
      sched_yield();
    usleep(20000); // it is blocked by now
    CHECK(write(I % 4 == 1 ? Socket[1] : Pipe[1], "xxxxxxxxxxxxxx", 14) == 14);
    for (int Spin = 0; Spin < 200000; ++Spin)
      Buffers[I % 2].After[Spin % 7] = Buffers[I % 2].Before[Spin % 3] = Spin;
    CHECK(pthread_join(Thread, NULL) == 0);
  }
  printf("blocking done %016lx\n", (unsigned long)Hash);
  return 0;
}
