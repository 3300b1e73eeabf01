// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads make random system calls with random valid buffers, while others
// store to the bytes right before and behind each buffer. Every byte of a
// buffer is read afterwards. Arguments: rounds per thread, seed.
#define _GNU_SOURCE
#include "Check.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>

enum { Workers = 4, Neighbours = 2, Places = 8, PlaceBytes = 1024 };

// The arena of one worker. Its buffers begin and end anywhere; all other bytes
// belong to the neighbours.
struct Arena {
  unsigned char Bytes[Places * PlaceBytes];
};
static struct Arena Anonymous[Workers];             // .bss
static struct Arena Initialised[Workers] = {{{1}}}; // .data, a private mapping
static atomic_int Begin[Workers][2][Places], End[Workers][2][Places];
static atomic_int Done, Passes[Neighbours];
static char Directory[] = ".";
static pthread_t WorkerThreads[Workers];
static atomic_int Working[Workers];
static __thread volatile unsigned Signals;
static void handler(int Number) { ++Signals; }

// Of a call that a signal may interrupt for good.
#define INTERRUPTED(Result) ((Result) == -1 && errno == EINTR)

struct Worker {
  int Number, Used, Which;
  unsigned Rounds;
  uint64_t Seed, Hash;
  int Pipe[2], Udp, Listener, File, Event, Epoll, Timer, Queue, Semaphores;
  int Stream[2];
  struct sockaddr_in UdpName, ListenerName;
};

static uint64_t draw(struct Worker *W) {
  W->Seed ^= W->Seed << 13;
  W->Seed ^= W->Seed >> 7;
  W->Seed ^= W->Seed << 17;
  return W->Seed;
}
static struct Arena *arenas(int Which) {
  return Which ? Initialised : Anonymous;
}

// A buffer of the worker, full of random bytes, until the end of the round.
static void *place(struct Worker *W, size_t Size) {
  CHECK(W->Used < Places && Size + 16 <= PlaceBytes);
  int I = W->Used++;
  int First = I * PlaceBytes + draw(W) % (PlaceBytes - Size);
  unsigned char *P = arenas(W->Which)[W->Number].Bytes + First;
  atomic_store(&End[W->Number][W->Which][I], First + (int)Size);
  atomic_store(&Begin[W->Number][W->Which][I], First);
  // A neighbour that has not seen this may still store there.
  for (int N = 0; N < Neighbours; ++N)
    for (int Before = atomic_load(&Passes[N]);
         atomic_load(&Passes[N]) - Before < 2;)
      sched_yield();
  memset(P, (int)draw(W), Size);
  return P;
}
static void look(struct Worker *W, const void *P, size_t Size) {
  const unsigned char *Bytes = P;
  for (size_t I = 0; I < Size; ++I)
    W->Hash = (W->Hash ^ Bytes[I]) * 0x100000001b3u;
}
static void *copyOf(struct Worker *W, const void *P, size_t Size) {
  return memcpy(place(W, Size), P, Size);
}
static int asInt(const void *P) {
  int V;
  memcpy(&V, P, sizeof(V));
  return V;
}

// Stores beside the buffers of all workers. Now and then one of them gets a
// signal.
static void *neighbour(void *Argument) {
  uint64_t Random = 77 + (uintptr_t)Argument;
  while (!atomic_load(&Done)) {
    for (int W = 0; W < Workers; ++W)
      for (int Which = 0; Which < 2; ++Which)
        for (int I = 0; I < Places; ++I) {
          Random = Random * 6364136223846793005u + 1442695040888963407u;
          unsigned char *B = arenas(Which)[W].Bytes;
          int From = atomic_load(&Begin[W][Which][I]);
          int To = atomic_load(&End[W][Which][I]);
          if (From <= 0 || To <= From)
            continue;
          // The two neighbours have different bytes.
          int Step = 1 + (int)(uintptr_t)Argument;
          if (From - Step >= I * PlaceBytes)
            B[From - Step] = Random >> 56;
          if (To + Step <= (I + 1) * PlaceBytes)
            B[To + Step - 1] = Random >> 48;
        }
    int Target = Random >> 40 & 63;
    if (Argument == NULL && Target < Workers && atomic_load(&Working[Target]))
      pthread_kill(WorkerThreads[Target], SIGUSR1);
    atomic_fetch_add(&Passes[(uintptr_t)Argument], 1);
    sched_yield();
  }
  return NULL;
}

// ---- the calls ----

static void receive(struct Worker *W) {
  size_t Size = 1 + draw(W) % 400;
  char Data[400];
  memset(Data, 'd', sizeof(Data));
  CHECK(sendto(W->Udp, Data, Size, 0, (void *)&W->UdpName, 16) == (int)Size);
  unsigned char *Buffer = place(W, 450);
  struct sockaddr_in *From = place(W, 64);
  socklen_t *Length = place(W, 4);
  int InLength = 8 + draw(W) % 50;
  memcpy(Length, &InLength, 4);
  CHECK(recvfrom(W->Udp, Buffer, 450, 0, (void *)From, Length) == (int)Size);
  CHECK(asInt(Length) == 16);
  look(W, Buffer, 450), look(W, From, 64), look(W, Length, 4);
}

static void receiveMessage(struct Worker *W) {
  CHECK(sendto(W->Udp, "message", 7, 0, (void *)&W->UdpName, 16) == 7);
  struct iovec Parts[2] = {{place(W, 5), 5}, {place(W, 50), 50}};
  struct msghdr M = {
      place(W, 30), 30,    copyOf(W, Parts, sizeof(Parts)), 2, place(W, 100),
      100,          0x5555};
  struct msghdr *At = copyOf(W, &M, sizeof(M));
  if (draw(W) % 2) {
    CHECK(recvmsg(W->Udp, At, 0) == 7);
  } else {
    struct mmsghdr Many = {M, 0x77};
    struct timespec Time = {1, 5000};
    W->Used--; // the place of the single header
    struct mmsghdr *AtMany = copyOf(W, &Many, sizeof(Many));
    struct timespec *AtTime = copyOf(W, &Time, sizeof(Time));
    CHECK(recvmmsg(W->Udp, AtMany, 1, 0, AtTime) == 1);
    look(W, AtMany, sizeof(Many)), look(W, AtTime, sizeof(Time));
    memcpy(&M, AtMany, sizeof(M));
    At = &M;
  }
  struct msghdr Out;
  memcpy(&Out, At, sizeof(Out));
  CHECK(Out.msg_namelen == 16);
  look(W, &Out, sizeof(Out)), look(W, Out.msg_name, 30);
  look(W, Parts[0].iov_base, 5), look(W, Parts[1].iov_base, 50);
  look(W, Out.msg_control, 100);
}

static void acceptOne(struct Worker *W) {
  int Client = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(Client >= 0);
  CHECK(connect(Client, (void *)&W->ListenerName, 16) == 0);
  struct sockaddr *Name = place(W, 60);
  socklen_t *Length = place(W, 4);
  int InLength = draw(W) % 60;
  memcpy(Length, &InLength, 4);
  int Server = draw(W) % 2 ? accept(W->Listener, Name, Length)
                           : accept4(W->Listener, Name, Length, SOCK_CLOEXEC);
  CHECK(Server >= 0 && asInt(Length) == 16);
  look(W, Name, 60), look(W, Length, 4);
  unsigned char *Option = place(W, 300);
  int OptionLength = 1 + draw(W) % 300;
  socklen_t *AtLength = copyOf(W, &OptionLength, 4);
  CHECK(getsockopt(Server, IPPROTO_TCP, TCP_INFO, Option, AtLength) == 0);
  look(W, Option, 300), look(W, AtLength, 4);
  InLength = draw(W) % 60;
  memcpy(Length, &InLength, 4);
  CHECK((draw(W) % 2 ? getpeername : getsockname)(Server, Name, Length) == 0);
  look(W, Name, 60), look(W, Length, 4);
  close(Server);
  close(Client);
}

static void waitForPipe(struct Worker *W) {
  int Ready = draw(W) % 2;
  if (Ready)
    CHECK(write(W->Pipe[1], "x", 1) == 1);
  struct timespec Time = {0, 1 + draw(W) % 500000};
  struct timeval OldTime = {0, 1 + draw(W) % 500};
  struct pollfd Set[2] = {{W->Pipe[0], POLLIN, 0x5555}, {-1, POLLIN, 0x5555}};
  void *Sets[3] = {place(W, 128), place(W, 128), place(W, 128)};
  fd_set Wanted;
  FD_ZERO(&Wanted);
  FD_SET(W->Pipe[0], &Wanted);
  for (int I = 0; I < 3; ++I)
    memcpy(Sets[I], &Wanted, sizeof(Wanted));
  void *AtTime = place(W, 16), *AtSet = copyOf(W, Set, sizeof(Set));
  memcpy(AtTime, &Time, 16);
  int Most = W->Pipe[0] + 1 + draw(W) % 40;
  long Result = 0;
  switch (draw(W) % 4) {
  case 0:
    memcpy(AtTime, &OldTime, 16);
    Result = syscall(SYS_select, Most, Sets[0], NULL, Sets[2], AtTime);
    break;
  case 1:
    Result = syscall(SYS_pselect6, Most, Sets[0], NULL, Sets[2], AtTime, NULL);
    break;
  case 2:
    Result = syscall(SYS_ppoll, AtSet, 2, AtTime, NULL, 8);
    break;
  case 3:
    Result = syscall(SYS_poll, AtSet, 2, 1);
    break;
  }
  CHECK(Result == Ready || INTERRUPTED(Result));
  for (int I = 0; I < 3; ++I)
    look(W, Sets[I], 128);
  look(W, AtTime, 16), look(W, AtSet, sizeof(Set));
  char *Byte = AtTime;
  if (Ready)
    CHECK(read(W->Pipe[0], Byte, 1) == 1 && *Byte == 'x');
}

static void readFile(struct Worker *W) {
  size_t Size = 1 + draw(W) % 900;
  long Offset = draw(W) % 5000;
  char *A = place(W, Size), *B = place(W, 77);
  struct iovec Parts[2] = {{B, 77}, {A, Size}};
  switch (draw(W) % 3) {
  case 0:
    CHECK(pread(W->File, A, Size, Offset) > 0);
    break;
  case 1:
    CHECK(preadv(W->File, copyOf(W, Parts, sizeof(Parts)), 2, Offset) > 0);
    break;
  case 2:
    lseek(W->File, Offset, SEEK_SET);
    CHECK(read(W->File, A, Size) > 0);
    break;
  }
  look(W, A, Size), look(W, B, 77);
}

static void moveData(struct Worker *W) {
  long In = draw(W) % 4000, Out = 10000 + draw(W) % 100;
  long *AtIn = copyOf(W, &In, 8), *AtOut = copyOf(W, &Out, 8);
  char Data[64];
  switch (draw(W) % 3) {
  case 0:
    CHECK(splice(W->File, AtIn, W->Pipe[1], NULL, 50, 0) == 50);
    CHECK(read(W->Pipe[0], Data, 50) == 50);
    break;
  case 1:
    CHECK(syscall(SYS_copy_file_range, W->File, AtIn, W->File, AtOut, 60, 0) >=
              0 ||
          errno == EXDEV || errno == EOPNOTSUPP);
    break;
  case 2:
    CHECK(sendfile(W->Stream[0], W->File, AtIn, 40) == 40);
    CHECK(read(W->Stream[1], Data, 40) == 40);
    break;
  }
  look(W, AtIn, 8), look(W, AtOut, 8);
}

static void askProcess(struct Worker *W) {
  char *A = place(W, 500);
  switch (draw(W) % 20) {
  case 0:
    CHECK(uname((void *)A) == 0);
    break;
  case 1:
    CHECK(sysinfo((void *)A) == 0);
    break;
  case 2:
    CHECK(times((void *)A) != -1);
    break;
  case 3:
    CHECK(getrusage(RUSAGE_SELF, (void *)A) == 0);
    break;
  case 4:
    CHECK(syscall(SYS_getrlimit, RLIMIT_STACK, A) == 0);
    break;
  case 5:
    CHECK(syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, A) == 0);
    break;
  case 6:
    CHECK(getresuid((void *)A, (void *)(A + 5), (void *)(A + 11)) == 0);
    break;
  case 7:
    CHECK(syscall(SYS_sched_getaffinity, 0, 500 / 8 * 8, A) > 0);
    break;
  case 8:
    CHECK(syscall(SYS_getcpu, A, A + 7, NULL) == 0);
    break;
  case 9:
    CHECK(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, A) == 0);
    break;
  case 10:
    CHECK(syscall(SYS_gettimeofday, A, A + 20) == 0);
    break;
  case 11:
    CHECK(syscall(SYS_getitimer, ITIMER_REAL, A) == 0);
    break;
  case 12:
    CHECK(syscall(SYS_getrandom, A, draw(W) % 500, 0) >= 0);
    break;
  case 13:
    CHECK(syscall(SYS_getcwd, A, 500) > 0);
    break;
  case 14:
    CHECK(readlink("/proc/self/exe", A, 100) > 0);
    break;
  case 15:
    CHECK(syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, A, 8) == 0);
    break;
  case 16:
    CHECK(syscall(SYS_rt_sigaction, SIGUSR1, NULL, A, 8) == 0);
    break;
  case 17: {
    struct __user_cap_header_struct Header = {_LINUX_CAPABILITY_VERSION_3, 0};
    if (draw(W) % 3 == 0)
      Header.version = 1; // the kernel writes the version it wants
    void *At = copyOf(W, &Header, sizeof(Header));
    syscall(SYS_capget, At, A);
    look(W, At, sizeof(Header));
    break;
  }
  case 18:
    CHECK(syscall(SYS_get_robust_list, 0, A, A + 9) == 0);
    break;
  case 19:
    CHECK(syscall(SYS_sched_getattr, 0, A, 48, 0) == 0);
    break;
  }
  look(W, A, 500);
}

static void askFiles(struct Worker *W) {
  char *A = place(W, 600);
  switch (draw(W) % 9) {
  case 0:
    CHECK(syscall(SYS_fstat, W->File, A) == 0);
    break;
  case 1:
    CHECK(syscall(SYS_newfstatat, AT_FDCWD, Directory, A, 0) == 0);
    break;
  case 2:
    CHECK(syscall(SYS_statfs, Directory, A) == 0);
    break;
  case 3:
    CHECK(statx(AT_FDCWD, Directory, 0, STATX_ALL, (void *)A) == 0);
    break;
  case 4: {
    int D = open(Directory, O_RDONLY | O_DIRECTORY);
    CHECK(syscall(SYS_getdents64, D, A, 100 + draw(W) % 500) > 0);
    close(D);
    break;
  }
  case 5: {
    int Bytes = draw(W) % 3 ? 128 : 0; // 0: fails, and says what it needs
    memcpy(A, &Bytes, 4);
    name_to_handle_at(AT_FDCWD, Directory, (void *)A, (void *)(A + 300), 0);
    break;
  }
  case 6: {
    struct flock Lock = {F_WRLCK, SEEK_SET, 3, 100, 0};
    memcpy(A, &Lock, sizeof(Lock));
    CHECK(fcntl(W->File, F_OFD_GETLK, A) == 0);
    break;
  }
  case 7: {
    struct fiemap Map = {0, ~0ull, 0, 0, 5, 0};
    memcpy(A, &Map, sizeof(Map));
    ioctl(W->File, FS_IOC_FIEMAP, A);
    break;
  }
  case 8:
    CHECK(syscall(SYS_mincore, (uintptr_t)W & -4096, 4096, A) == 0);
    getxattr(Directory, "user.none", A, 100);
    break;
  }
  look(W, A, 600);
}

static void control(struct Worker *W) {
  char *A = place(W, 200), *B = place(W, 300);
  switch (draw(W) % 9) {
  case 0:
    CHECK(ioctl(W->Udp, FIONREAD, A) == 0);
    break;
  case 1: {
    struct ifconf List = {200, {B}};
    memcpy(A, &List, sizeof(List));
    CHECK(ioctl(W->Udp, SIOCGIFCONF, A) == 0);
    break;
  }
  case 2:
    CHECK(prctl(PR_GET_NAME, A) == 0);
    break;
  case 3:
    CHECK(prctl(PR_GET_CHILD_SUBREAPER, A) == 0);
    break;
  case 4:
    CHECK(syscall(SYS_waitid, P_PID, 1 << 29, A, WEXITED, NULL) == -1);
    break;
  case 5: {
    int Length = 200;
    void *At = copyOf(W, &Length, 4);
    CHECK(getsockopt(W->Udp, SOL_SOCKET, SO_LINGER, A, At) == 0);
    look(W, At, 4);
    break;
  }
  case 6: {
    // The process writes its own memory.
    memset(A, 'a', 100);
    struct iovec Local = {A, 100}, Remote = {B + 3, 100};
    CHECK(process_vm_writev(getpid(), &Local, 1, &Remote, 1, 0) == 100);
    CHECK(B[3] == 'a' && B[102] == 'a');
    break;
  }
  case 7: {
    int Old = 5;
    memcpy(B + 1, &Old, 4);
    uintptr_t Word = ((uintptr_t)B + 7) & -4, Other = ((uintptr_t)A + 7) & -4;
    // Adds 3 to the second word.
    CHECK(syscall(SYS_futex, Other, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 1, 1,
                  Word, FUTEX_OP(FUTEX_OP_ADD, 3, FUTEX_OP_CMP_EQ, 0)) >= 0);
    break;
  }
  case 8: {
    struct timespec Time = {0, 1 + draw(W) % 90000};
    memcpy(A, &Time, 16);
    long Result = syscall(SYS_nanosleep, A, B);
    CHECK(Result == 0 || INTERRUPTED(Result));
    Result = clock_nanosleep(CLOCK_MONOTONIC, 0, (void *)A, (void *)(B + 20));
    CHECK(Result == 0 || Result == EINTR);
    break;
  }
  }
  look(W, A, 200), look(W, B, 300);
}

static void queues(struct Worker *W) {
  char *A = place(W, 300);
  uint64_t Value = 1 + draw(W) % 1000;
  switch (draw(W) % 6) {
  case 0:
    CHECK(write(W->Event, &Value, 8) == 8 && read(W->Event, A, 8) == 8);
    break;
  case 1:
    CHECK(write(W->Event, &Value, 8) == 8);
    while (epoll_wait(W->Epoll, (void *)A, 1 + draw(W) % 20, 10) != 1)
      CHECK(errno == EINTR);
    CHECK(read(W->Event, A + 100, 8) == 8);
    break;
  case 2: {
    struct itimerspec Time = {{0, 0}, {0, 1 + draw(W) % 50000}};
    CHECK(timerfd_settime(W->Timer, 0, &Time, (void *)A) == 0);
    CHECK(timerfd_gettime(W->Timer, (void *)(A + 50)) == 0);
    CHECK(read(W->Timer, A + 150, 8) == 8);
    break;
  }
  case 3: {
    struct {
      long Type;
      char Text[40];
    } Message = {3, "text"};
    CHECK(msgsnd(W->Queue, &Message, 1 + draw(W) % 40, 0) == 0);
    while (msgrcv(W->Queue, A, 60, 0, 0) <= 0)
      CHECK(errno == EINTR);
    CHECK(msgctl(W->Queue, IPC_STAT, (void *)(A + 100)) == 0);
    break;
  }
  case 4:
    CHECK(semctl(W->Semaphores, 0, GETALL, A) == 0);
    CHECK(semctl(W->Semaphores, 0, IPC_STAT, A + 60) == 0);
    break;
  case 5:
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, (void *)A) == 0);
    CHECK(close(asInt(A)) == 0 && close(asInt(A + 4)) == 0);
    CHECK(pipe2((void *)(A + 11), O_CLOEXEC) == 0);
    CHECK(close(asInt(A + 11)) == 0 && close(asInt(A + 15)) == 0);
    break;
  }
  look(W, A, 300);
}

// The second half of the buffer is not mapped.
static void fault(struct Worker *W) {
  char *Pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(Pages != MAP_FAILED && mprotect(Pages + 4096, 4096, PROT_NONE) == 0);
  size_t Good = 1 + draw(W) % 900;
  memset(Pages, 's', 4096);
  char Data[1000] = "sent";
  CHECK(sendto(W->Udp, Data, 1000, 0, (void *)&W->UdpName, 16) == 1000);
  recv(W->Udp, Pages + 4096 - Good, 1000, 0); // fails, or is short
  pread(W->File, Pages + 4096 - Good, 1000, 0);
  look(W, Pages, 4096);
  CHECK(munmap(Pages, 8192) == 0);
}

static void empty(struct Worker *W) {
  static const int Kinds[] = {MADV_DONTNEED, MADV_DONTNEED, MADV_FREE};
  char *Pages = mmap(NULL, 5 * 4096, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(Pages != MAP_FAILED);
  memset(Pages, 'e', 3 * 4096);
  int Kind = Kinds[draw(W) % 3], Hole = draw(W) % 2;
  if (Hole)
    CHECK(munmap(Pages + 2 * 4096, 4096) == 0);
  CHECK(madvise(Pages + 4096, 3 * 4096, Kind) == (Hole ? -1 : 0));
  if (Kind == MADV_DONTNEED)
    CHECK(Pages[4096] == 0);
  look(W, Pages, 2 * 4096);
  CHECK(munmap(Pages, 5 * 4096) == 0);
}

static void (*const Calls[])(struct Worker *) = {
    receive,        receiveMessage, acceptOne, waitForPipe, readFile, moveData,
    askProcess,     askFiles,       control,   queues,      fault,    empty,
    receiveMessage, waitForPipe,    control,   askProcess};

static int boundSocket(int Type, struct sockaddr_in *Name) {
  int S = socket(AF_INET, Type, 0);
  socklen_t Length = sizeof(*Name);
  memset(Name, 0, sizeof(*Name));
  Name->sin_family = AF_INET;
  Name->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(S >= 0 && bind(S, (void *)Name, sizeof(*Name)) == 0);
  CHECK(getsockname(S, (void *)Name, &Length) == 0);
  return S;
}

static void *work(void *Argument) {
  struct Worker *W = Argument;
  int On = 1;
  W->Udp = boundSocket(SOCK_DGRAM, &W->UdpName);
  setsockopt(W->Udp, SOL_SOCKET, SO_TIMESTAMPNS, &On, sizeof(On));
  W->Listener = boundSocket(SOCK_STREAM, &W->ListenerName);
  CHECK(listen(W->Listener, 5) == 0 && pipe(W->Pipe) == 0);
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, W->Stream) == 0);
  char Name[32];
  snprintf(Name, sizeof(Name), "file-%d", W->Number);
  W->File = open(Name, O_RDWR | O_CREAT | O_TRUNC, 0600);
  CHECK(W->File >= 0 && unlink(Name) == 0);
  for (int I = 0; I < 500; ++I)
    CHECK(write(W->File, "0123456789", 10) == 10);
  W->Event = eventfd(0, 0);
  W->Epoll = epoll_create1(0);
  struct epoll_event Wanted = {EPOLLIN, {.u64 = 0x1122334455667788}};
  CHECK(epoll_ctl(W->Epoll, EPOLL_CTL_ADD, W->Event, &Wanted) == 0);
  W->Timer = timerfd_create(CLOCK_MONOTONIC, 0);
  W->Queue = msgget(IPC_PRIVATE, 0600);
  W->Semaphores = semget(IPC_PRIVATE, 5, 0600);
  CHECK(W->Queue >= 0 && W->Semaphores >= 0);
  WorkerThreads[W->Number] = pthread_self();
  atomic_store(&Working[W->Number], 1);
  for (unsigned I = 0; I < W->Rounds; ++I) {
    W->Which = draw(W) % 2;
    Calls[draw(W) % (sizeof(Calls) / sizeof(*Calls))](W);
    for (int P = 0; P < W->Used; ++P)
      atomic_store(&Begin[W->Number][W->Which][P], 0);
    W->Used = 0;
  }
  atomic_store(&Working[W->Number], 0);
  CHECK(msgctl(W->Queue, IPC_RMID, NULL) == 0);
  CHECK(semctl(W->Semaphores, 0, IPC_RMID) == 0);
  // Until the neighbours know that no signal may be sent.
  W->Used = 0;
  place(W, 1);
  return NULL;
}

int main(int Count, char **Arguments) {
  pthread_t Threads[Workers + Neighbours];
  static struct Worker Each[Workers];
  struct sigaction Action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  CHECK(Count == 3 && sigaction(SIGUSR1, &Action, NULL) == 0);
  for (uintptr_t I = 0; I < Neighbours; ++I)
    CHECK(pthread_create(&Threads[Workers + I], NULL, neighbour, (void *)I) ==
          0);
  for (int I = 0; I < Workers; ++I) {
    Each[I].Number = I;
    Each[I].Rounds = atoi(Arguments[1]);
    Each[I].Seed = strtoul(Arguments[2], NULL, 0) * 2654435761u + I + 1;
    CHECK(pthread_create(&Threads[I], NULL, work, &Each[I]) == 0);
  }
  for (int I = 0; I < Workers; ++I)
    CHECK(pthread_join(Threads[I], NULL) == 0);
  atomic_store(&Done, 1);
  for (int I = 0; I < Neighbours; ++I)
    CHECK(pthread_join(Threads[Workers + I], NULL) == 0);
  printf("stress done\n");
  return 0;
}
