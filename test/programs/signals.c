// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Handles signals. A handler repairs a fault so that the instruction runs
// again, leaves by longjmp, is interrupted by another, runs on an alternate
// stack, reads its siginfo or changes its ucontext.
#define _GNU_SOURCE
#include "Check.h"
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

static char *Page;
static sigjmp_buf Back;
static volatile int Count, Nested, OnAlternate;
static char Alternate[65536];
static void *FaultAddress;

static void install(int Number, void (*Handler)(int, siginfo_t *, void *),
                    int Flags) {
  struct sigaction Action = {0};
  Action.sa_sigaction = Handler;
  Action.sa_flags = SA_SIGINFO | Flags;
  CHECK(sigaction(Number, &Action, NULL) == 0);
}

static void repair(int Number, siginfo_t *Info, void *Context) {
  (void)Number, (void)Context;
  FaultAddress = Info->si_addr;
  ++Count;
  CHECK(mprotect(Page, 4096, PROT_READ | PROT_WRITE) == 0);
}

static void jumpOut(int Number, siginfo_t *Info, void *Context) {
  (void)Info, (void)Context;
  siglongjmp(Back, Number);
}

static void skip(int Number, siginfo_t *Info, void *Context) {
  (void)Number, (void)Info;
  ucontext_t *User = Context;
  ++Count;
  User->uc_mcontext.gregs[REG_RIP] += 2; // the length of ud2 and of div %cl
  User->uc_mcontext.gregs[REG_RAX] = 77;
}

static void inner(int Number, siginfo_t *Info, void *Context) {
  (void)Number, (void)Info, (void)Context;
  ++Nested;
}
static void outer(int Number, siginfo_t *Info, void *Context) {
  (void)Number, (void)Info, (void)Context;
  CHECK(Nested == 0);
  raise(SIGUSR2);
  CHECK(Nested == 1);
  volatile char Deep[3000];
  memset((void *)Deep, 1, sizeof(Deep));
}

static void alternate(int Number, siginfo_t *Info, void *Context) {
  (void)Number, (void)Info, (void)Context;
  char Here;
  OnAlternate = &Here >= Alternate && &Here < Alternate + sizeof(Alternate);
}

static void synchronous(void) {
  Page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(Page != MAP_FAILED);
  install(SIGSEGV, repair, 0);
  Page[100] = 5;
  CHECK(Count == 1 && Page[100] == 5 && FaultAddress == Page + 100);
  // Faults in the middle of a rep-prefixed instruction.
  char *Two = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Page = Two + 4096;
  CHECK(mprotect(Page, 4096, PROT_NONE) == 0);
  void *To = Two + 4000;
  uint64_t Length = 200;
  __asm__ volatile("rep stosb" : "+D"(To), "+c"(Length) : "a"('x') : "memory");
  // Valgrind counts down before it stores, so one byte may be missing.
  CHECK(Count == 2 && Two[4198] == 'x' && Two[4200] == 0);
  // Faults in a store across two pages.
  CHECK(mprotect(Page, 4096, PROT_NONE) == 0);
  *(volatile uint64_t *)(Two + 4092) = 0x1122334455667788;
  CHECK(Count == 3 && *(uint64_t *)(Two + 4092) == 0x1122334455667788);
  // Faults often, in push and in read-modify-write instructions.
  for (int I = 0; I < 200; ++I) {
    CHECK(mprotect(Page, 4096, PROT_NONE) == 0);
    if (I & 1)
      ++*(volatile int *)(Page + 4 * I);
    else
      __asm__ volatile("lock addl $3, %0" : "+m"(*(int *)(Page + 4 * I)));
  }
  CHECK(Count == 203 && *(int *)(Page + 4) != 0);
}

static void jumps(void) {
  static volatile int Landed;
  install(SIGSEGV, jumpOut, SA_NODEFER);
  install(SIGFPE, jumpOut, 0);
  install(SIGILL, jumpOut, 0);
  for (volatile int I = 0; I < 50; ++I) {
    if (sigsetjmp(Back, 1) == 0) {
      *(volatile int *)(intptr_t)(I * 8) = 1;
      CHECK(0);
    }
    ++Landed;
  }
  CHECK(Landed == 50);
  volatile int Zero = 0;
  if (sigsetjmp(Back, 1) == 0) {
    Zero = 5 / Zero;
    CHECK(0);
  }
  if (sigsetjmp(Back, 1) == 0) {
    __asm__ volatile("ud2");
    CHECK(0);
  }
  // Jumps to an unmapped address, so that the fetch itself faults.
  if (sigsetjmp(Back, 1) == 0) {
    ((void (*)(void))(intptr_t)0x10)();
    CHECK(0);
  }
}

static void contexts(void) {
  Count = 0;
  install(SIGILL, skip, 0);
  install(SIGFPE, skip, 0);
  uint64_t Rax = 1;
  __asm__ volatile("ud2" : "+a"(Rax));
  CHECK(Count == 1 && Rax == 77);
  Rax = 1;
  __asm__ volatile("divb %%cl" : "+a"(Rax) : "c"(0) : "cc");
  CHECK(Count == 2 && Rax == 77);
}

static void sent(int Number, siginfo_t *Info, void *Context) {
  (void)Number, (void)Context;
  CHECK(Info->si_pid == getpid() || Info->si_code == SI_QUEUE);
  Count += Info->si_code == SI_QUEUE ? Info->si_value.sival_int : 1;
}

static void asynchronous(void) {
  install(SIGUSR2, inner, 0);
  install(SIGUSR1, outer, 0);
  raise(SIGUSR1);
  CHECK(Nested == 1);

  stack_t Stack = {.ss_sp = Alternate, .ss_size = sizeof(Alternate)};
  CHECK(sigaltstack(&Stack, NULL) == 0);
  install(SIGHUP, alternate, SA_ONSTACK);
  raise(SIGHUP);
  CHECK(OnAlternate);

  Count = 0;
  install(SIGRTMIN, sent, 0);
  union sigval Value = {.sival_int = 10};
  sigset_t Set, Old, Pending;
  sigemptyset(&Set);
  sigaddset(&Set, SIGRTMIN);
  sigprocmask(SIG_BLOCK, &Set, &Old);
  for (int I = 0; I < 3; ++I)
    CHECK(sigqueue(getpid(), SIGRTMIN, Value) == 0);
  CHECK(kill(getpid(), SIGRTMIN) == 0 && Count == 0);
  sigpending(&Pending);
  CHECK(sigismember(&Pending, SIGRTMIN));
  sigprocmask(SIG_SETMASK, &Old, NULL);
  CHECK(Count == 31);
  sigprocmask(SIG_BLOCK, &Set, NULL);
  sigqueue(getpid(), SIGRTMIN, Value);
  siginfo_t Info;
  CHECK(sigwaitinfo(&Set, &Info) == SIGRTMIN && Info.si_value.sival_int == 10);
  sigprocmask(SIG_SETMASK, &Old, NULL);
}

int main(void) {
  synchronous();
  jumps();
  contexts();
  asynchronous();
  printf("signals done\n");
  return 0;
}
