// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Faults in code that changes all registers right before the faulting
// instruction and again right after it. A handler prints the registers that it
// sees; without a handler the fault kills the program. The code always ran
// earlier, before a handler was installed.
#define _GNU_SOURCE
#include "Check.h"
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>

// The argument is in rdi. Every other register has a distinct value at the
// faulting instruction and another one after it. Nothing uses the result of the
// load or of the division.
#define BEFORE                                                                 \
  "  push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"       \
  "  movabs $0x1111111111111111, %rax\n"                                       \
  "  movabs $0x2222222222222222, %rbx\n"                                       \
  "  movabs $0x3333333333333333, %rdx\n"                                       \
  "  movabs $0x4444444444444444, %rsi\n"                                       \
  "  movabs $0x5555555555555555, %rbp\n"                                       \
  "  movabs $0x6666666666666666, %r8\n"                                        \
  "  movabs $0x7777777777777777, %r9\n"                                        \
  "  mov %rax, %r10; mov %rbx, %r11; mov %rdx, %r12; mov %rsi, %r13\n"         \
  "  mov %rbp, %r14; mov %r8, %r15\n"                                          \
  "  movq %rbx, %xmm0; movq %r9, %xmm15\n"                                     \
  "  cmp %rax, %rbx; lea 1(%r15), %r15\n"
#define AFTER                                                                  \
  "  movq %xmm0, %rax; movq %xmm15, %rdx; sub %rdx, %rax\n"                    \
  "  mov $0, %ecx; mov $1, %edx; mov $2, %esi; mov $3, %r8d; mov $4, %r9d\n"   \
  "  mov $5, %r10d; mov $6, %r11d; mov $7, %r12d; mov $8, %r13d\n"             \
  "  pxor %xmm0, %xmm0; pxor %xmm15, %xmm15\n"                                 \
  "  pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"             \
  "  ret\n"
__asm__(".text\n"
        "store:\n" BEFORE "  mov %rcx, (%rdi)\n" AFTER "load:\n" BEFORE
        "  mov (%rdi), %rcx\n" AFTER "divide:\n" BEFORE "  div %rdi\n" AFTER
        // Pushes to the address in rdi.
        "pushes:\n" BEFORE
        "  xchg %rsp, %rdi; push %rax; xchg %rsp, %rdi\n" AFTER);
uint64_t store(void *Where), load(void *Where), pushes(void *Where);
uint64_t divide(uint64_t By);
// The values that xmm0 to xmm15 had before.
static const uint64_t Result = 0x2222222222222222 - 0x7777777777777777;

// Larger than what BEFORE leaves in rdx, so that the quotient fits.
static const uint64_t Divisor = 0x8888888888888888;
static char *Page;

static void seen(int Number, siginfo_t *Info, void *Context) {
  (void)Info;
  ucontext_t *User = Context;
  static const char Names[][4] = {"rax", "rbx", "rdx", "rsi", "rbp",
                                  "r8",  "r9",  "r10", "r11", "r12",
                                  "r13", "r14", "r15", "efl"};
  static const int Numbers[] = {REG_RAX, REG_RBX, REG_RDX, REG_RSI, REG_RBP,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12,
                                REG_R13, REG_R14, REG_R15, REG_EFL};
  printf("signal %d:", Number);
  for (unsigned I = 0; I < sizeof(Numbers) / sizeof(*Numbers); ++I) {
    uint64_t Value = User->uc_mcontext.gregs[Numbers[I]];
    // Carry, parity, adjust, zero, sign and overflow. The program does not
    // control the others.
    printf(" %s=%llx", Names[I],
           (unsigned long long)(Numbers[I] == REG_EFL ? Value & 0x8d5 : Value));
  }
  // Valgrind's signal frames have no vector registers, so Result holds them.
  printf("\n");
  fflush(stdout);
  if (Number == SIGFPE)
    User->uc_mcontext.gregs[REG_RDI] = (greg_t)Divisor;
  else
    CHECK(mprotect(Page, 4096, PROT_READ | PROT_WRITE) == 0);
}

static void *install(void *Argument) {
  struct sigaction Action = {0};
  Action.sa_sigaction = seen;
  Action.sa_flags = SA_SIGINFO;
  CHECK(sigaction(SIGSEGV, &Action, NULL) == 0);
  CHECK(sigaction(SIGFPE, &Action, NULL) == 0);
  return Argument;
}

static void protect(void) { CHECK(mprotect(Page, 4096, PROT_NONE) == 0); }

static void faults(void) {
  protect();
  CHECK(store(Page) == Result);
  protect();
  CHECK(load(Page) == Result);
  CHECK(divide(0) == Result);
}

int main(int Count, char **Arguments) {
  const char *How = Count > 1 ? Arguments[1] : "";
  // The tests must not leave core files.
  struct rlimit None = {0, 0};
  setrlimit(RLIMIT_CORE, &None);
  Page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
              -1, 0);
  CHECK(Page != MAP_FAILED);
  for (int I = 0; I < 3; ++I) {
    store(Page);
    load(Page);
    pushes(Page + 4096);
    divide(Divisor);
  }
  if (!strcmp(How, "handled")) {
    install(NULL);
    faults();
  } else if (!strcmp(How, "thread")) {
    pthread_t Thread;
    CHECK(pthread_create(&Thread, NULL, install, NULL) == 0);
    CHECK(pthread_join(Thread, NULL) == 0);
    faults();
  } else if (!strcmp(How, "child")) {
    pid_t Child = fork();
    if (Child == 0) {
      install(NULL);
      faults();
      _exit(3);
    }
    int Status;
    CHECK(waitpid(Child, &Status, 0) == Child && WIFEXITED(Status) &&
          WEXITSTATUS(Status) == 3);
  } else if (!strcmp(How, "store")) {
    protect();
    store(Page);
  } else if (!strcmp(How, "load")) {
    protect();
    load(Page);
  } else if (!strcmp(How, "push")) {
    protect();
    pushes(Page + 4096);
  } else if (!strcmp(How, "divide")) {
    divide(0);
  } else if (!strcmp(How, "ignored")) {
    signal(SIGSEGV, SIG_IGN);
    protect();
    store(Page);
  } else if (!strcmp(How, "blocked")) {
    sigset_t Set;
    sigemptyset(&Set);
    sigaddset(&Set, SIGSEGV);
    install(NULL);
    CHECK(sigprocmask(SIG_BLOCK, &Set, NULL) == 0);
    protect();
    store(Page);
  } else if (!strcmp(How, "default")) {
    install(NULL);
    faults();
    signal(SIGSEGV, SIG_DFL);
    protect();
    load(Page);
  } else
    return 2;
  printf("fault registers done\n");
  return 0;
}
