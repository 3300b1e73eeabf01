// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Enters and leaves functions in every way. Compiled with
// -finstrument-functions -DLOGGED it also logs its own stack and reports where
// the log is: the call stacks of the trace must agree with it.

#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <stdexcept>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define NOLOG __attribute__((no_instrument_function))
#define NOINLINE __attribute__((noinline))

extern "C" {
// The log: the entries of the active functions, outermost first. There is one
// per thread and one per coroutine; Log is the one in use.
struct CallLog {
  uint64_t Depth;
  void *Functions[1000];
};
CallLog Logs[16];
thread_local CallLog *Log = &Logs[0];
CallLog *volatile Observed;

NOLOG NOINLINE void observe() {
  Observed = Log;
  __asm__ volatile("" ::: "memory");
}
NOLOG void __cyg_profile_func_enter(void *Function, void *) {
  Log->Functions[Log->Depth++] = Function;
  observe();
}
NOLOG void __cyg_profile_func_exit(void *, void *) {
  observe();
  --Log->Depth;
}
}

static volatile int Sink;

NOINLINE int recurse(int N) {
  observe();
  if (N == 0)
    return 1;
  int R = recurse(N - 1) + 1;
  Sink = R;
  return R;
}

NOINLINE int ackermann(int M, int N) {
  if (M == 0)
    return N + 1;
  if (N == 0)
    return ackermann(M - 1, 1);
  return ackermann(M - 1, ackermann(M, N - 1));
}

NOINLINE int tailC(int N) {
  observe();
  return N + 3;
}
NOINLINE int tailB(int N) {
  Sink = N;
  return tailC(N * 2);
}
NOINLINE int tailA(int N) {
  Sink = N;
  return tailB(N + 1);
}

static jmp_buf Jump;
NOINLINE void jumpOut(int N) {
  observe();
  if (N == 0)
    longjmp(Jump, 7);
  jumpOut(N - 1);
  Sink = N;
}
NOINLINE int catchJump(int N) {
  // longjmp leaves functions without a call of the logging exit hook.
  uint64_t Depth = Log->Depth;
  int R = setjmp(Jump);
  if (R == 0)
    jumpOut(N);
  Log->Depth = Depth;
  observe();
  return R;
}

struct Guard {
  int N;
  NOINLINE ~Guard() {
    observe();
    Sink = N;
  }
};
NOINLINE void throwing(int N) {
  Guard G{N};
  if (N == 0)
    throw std::runtime_error("thrown");
  throwing(N - 1);
}
NOINLINE int catching(int N) {
  uint64_t Depth = Log->Depth;
  try {
    throwing(N);
  } catch (const std::exception &E) {
    Log->Depth = Depth;
    observe();
    return int(std::strlen(E.what()));
  }
  return 0;
}

NOINLINE int variable(int N) {
  volatile char Space[N * 37 + 100];
  Space[0] = char(N);
  Space[N * 37] = 1;
  observe();
  return N ? variable(N - 1) + Space[0] : 0;
}
NOINLINE int viaAlloca(int N) {
  auto *Space = static_cast<char *>(alloca(N * 100 + 64));
  std::memset(Space, N, N * 100 + 64);
  observe();
  return Space[N] + recurse(2);
}

NOINLINE void handler(int) {
  observe();
  recurse(2);
}
NOINLINE void nestedHandler(int) {
  observe();
  raise(SIGUSR1);
  recurse(1);
}
static sigjmp_buf SignalJump;
NOINLINE void jumpingHandler(int) {
  recurse(1);
  siglongjmp(SignalJump, 3);
}
static volatile int *volatile Bad;
NOINLINE int faulting() {
  uint64_t Depth = Log->Depth;
  if (sigsetjmp(SignalJump, 1) == 0)
    Sink = *Bad;
  Log->Depth = Depth;
  observe();
  return recurse(1);
}
NOINLINE void installHandler(int Signal, void (*Handler)(int), int Flags) {
  struct sigaction A = {};
  A.sa_handler = Handler;
  A.sa_flags = Flags;
  sigaction(Signal, &A, nullptr);
}
NOINLINE char *newStack(size_t Size) {
  // An unmapped page on either side keeps it apart from other mappings.
  auto *Space = static_cast<char *>(mmap(nullptr, Size + 8192, PROT_NONE,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  munmap(Space, 4096);
  munmap(Space + 4096 + Size, 4096);
  mmap(Space + 4096, Size, PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  return Space + 4096;
}
NOINLINE void signals() {
  installHandler(SIGUSR1, handler, 0);
  installHandler(SIGUSR2, nestedHandler, 0);
  raise(SIGUSR1);
  raise(SIGUSR2);
  stack_t Stack = {};
  Stack.ss_size = 65536;
  Stack.ss_sp = newStack(Stack.ss_size);
  sigaltstack(&Stack, nullptr);
  installHandler(SIGUSR1, handler, SA_ONSTACK);
  raise(SIGUSR1);
  installHandler(SIGUSR2, nestedHandler, SA_ONSTACK);
  raise(SIGUSR2);
  installHandler(SIGSEGV, jumpingHandler, SA_ONSTACK);
  faulting();
  installHandler(SIGSEGV, jumpingHandler, 0);
  faulting();
  // Two signals at once: both frames are made before either handler runs.
  installHandler(SIGUSR1, handler, 0);
  sigset_t Set, Old;
  sigemptyset(&Set);
  sigaddset(&Set, SIGUSR1);
  sigaddset(&Set, SIGALRM);
  sigprocmask(SIG_BLOCK, &Set, &Old);
  installHandler(SIGALRM, handler, 0);
  raise(SIGUSR1);
  raise(SIGALRM);
  sigprocmask(SIG_SETMASK, &Old, nullptr);
  recurse(1);
}

static ucontext_t Main, One, Two;
NOINLINE void yieldTo(ucontext_t *From, ucontext_t *To, CallLog *Next) {
  CallLog *Mine = Log;
  Log = Next;
  swapcontext(From, To);
  Log = Mine;
}
NOINLINE void inner(ucontext_t *From, ucontext_t *To, CallLog *Next, int N) {
  observe();
  if (N) {
    inner(From, To, Next, N - 1);
    Sink = N;
    return;
  }
  yieldTo(From, To, Next);
  observe();
}
NOINLINE void coroutineOne() {
  observe();
  for (int I = 0; I < 4; ++I)
    inner(&One, I % 2 ? &Main : &Two, I % 2 ? &Logs[0] : &Logs[2], I);
  yieldTo(&One, &Main, &Logs[0]);
}
NOINLINE void coroutineTwo() {
  observe();
  for (int I = 0; I < 4; ++I) {
    recurse(2);
    inner(&Two, &One, &Logs[1], I);
  }
}
NOINLINE void coroutines() {
  char *Stacks[2] = {newStack(65536), newStack(65536)};
  ucontext_t *Contexts[2] = {&One, &Two};
  for (int I = 0; I < 2; ++I) {
    getcontext(Contexts[I]);
    Contexts[I]->uc_stack.ss_sp = Stacks[I];
    Contexts[I]->uc_stack.ss_size = 65536;
    Contexts[I]->uc_link = &Main;
  }
  makecontext(&One, coroutineOne, 0);
  makecontext(&Two, coroutineTwo, 0);
  for (int I = 0; I < 3; ++I) {
    inner(&Main, &One, &Logs[1], I);
    recurse(3);
  }
}

static pthread_mutex_t Mutex = PTHREAD_MUTEX_INITIALIZER;
// Its entry would go to the main thread's log.
NOLOG NOINLINE void *threadMain(void *Number) {
  Log = &Logs[4 + intptr_t(Number)];
  Log->Depth = 0;
  for (int I = 0; I < 20; ++I) {
    pthread_mutex_lock(&Mutex);
    recurse(3);
    pthread_mutex_unlock(&Mutex);
    sched_yield();
    tailA(I);
  }
  return Number;
}
NOINLINE void threads() {
  pthread_t T[3];
  for (intptr_t I = 0; I < 3; ++I)
    pthread_create(&T[I], nullptr, threadMain, reinterpret_cast<void *>(I));
  recurse(5);
  for (pthread_t Thread : T)
    pthread_join(Thread, nullptr);
}

static char Saved[4096];
NOINLINE void look(int N) {
  observe();
  if (N)
    look(N - 1);
  Sink = N;
}
// Everything above its own frame is overwritten for a while.
NOINLINE void smash(uintptr_t From, size_t Size) {
  auto *Stack = reinterpret_cast<char *>(From);
  std::memcpy(Saved, Stack, Size);
  std::memset(Stack, 0x5a, Size);
  look(3);
  std::memcpy(Stack, Saved, Size);
}
NOINLINE void smashed(int N) {
  if (N) {
    smashed(N - 1);
    Sink = N;
    return;
  }
  auto Here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  smash(Here, 512);
}

NOINLINE void byPointer(int (*F)(int), int N) { Sink = F(N); }

int main(int ArgumentCount, char **) {
#ifdef LOGGED
  std::printf("observe %p observed %p\n", reinterpret_cast<void *>(observe),
              const_cast<void *>(reinterpret_cast<volatile void *>(&Observed)));
  std::fflush(stdout);
#endif
  recurse(20);
  ackermann(2, 4);
  tailA(ArgumentCount);
  byPointer(tailA, 4);
  byPointer(recurse, 3);
  catchJump(6);
  catching(5);
  variable(5);
  viaAlloca(4);
  signals();
  coroutines();
  threads();
  smashed(6);
  std::puts("calls done");
  return 0;
}
