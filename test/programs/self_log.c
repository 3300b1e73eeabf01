// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Logs its own state. probe() writes all registers as they are at its first
// instruction, the top of the stack and a window of memory into a buffer, and
// changes nothing else. It is called thousands of times: from ordinary code,
// with registers full of random numbers, from signal handlers and from several
// threads. The buffers go to the file that is the first argument. The log does
// not depend on the recorder, so a trace can be checked against it.
//
// test/query/self-log.test reads struct record.
#define _GNU_SOURCE
#include "Check.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WINDOW 128
#define STACK 64
#define RECORDS 64

/// The assembly below uses these offsets.
struct record {
  uint64_t thread;        // 0
  uint64_t general[16];   // 8: rax rbx rcx rdx rsi rdi rbp rsp r8 to r15
  uint64_t flags;         // 136
  uint64_t fs;            // 144
  uint64_t window;        // 152: address
  uint8_t ymm[16][32];    // 160
  uint8_t x87[108];       // 672: as FNSAVE has it
  uint32_t mxcsr;         // 780
  uint8_t memory[WINDOW]; // 784
  uint8_t stack[STACK];   // 912: at rsp
  uint64_t probe;         // 976
  uint64_t zero[5];
};
_Static_assert(sizeof(struct record) == 1024, "the size in assembly");

struct log {
  struct record *next; // 0
  uint64_t rax;        // 8
  uint64_t window;     // 16
  uint64_t thread;     // 24
  struct record records[RECORDS];
};
__thread struct log own __attribute__((tls_model("local-exec")));

void probe(void);
__asm__(
    ".text\n.globl probe\n.type probe,@function\nprobe:\n"
    "  mov %rax, %fs:own@tpoff+8\n"
    "  mov %fs:own@tpoff, %rax\n"
    "  mov %rbx, 16(%rax)\n  mov %rcx, 24(%rax)\n"
    "  mov %rdx, 32(%rax)\n  mov %rsi, 40(%rax)\n"
    "  mov %rdi, 48(%rax)\n  mov %rbp, 56(%rax)\n"
    "  mov %rsp, 64(%rax)\n  mov %r8, 72(%rax)\n"
    "  mov %r9, 80(%rax)\n   mov %r10, 88(%rax)\n"
    "  mov %r11, 96(%rax)\n  mov %r12, 104(%rax)\n"
    "  mov %r13, 112(%rax)\n mov %r14, 120(%rax)\n"
    "  mov %r15, 128(%rax)\n"
    "  mov %fs:own@tpoff+8, %rbx\n  mov %rbx, 8(%rax)\n"
    "  vmovdqu %ymm0, 160(%rax)\n   vmovdqu %ymm1, 192(%rax)\n"
    "  vmovdqu %ymm2, 224(%rax)\n   vmovdqu %ymm3, 256(%rax)\n"
    "  vmovdqu %ymm4, 288(%rax)\n   vmovdqu %ymm5, 320(%rax)\n"
    "  vmovdqu %ymm6, 352(%rax)\n   vmovdqu %ymm7, 384(%rax)\n"
    "  vmovdqu %ymm8, 416(%rax)\n   vmovdqu %ymm9, 448(%rax)\n"
    "  vmovdqu %ymm10, 480(%rax)\n  vmovdqu %ymm11, 512(%rax)\n"
    "  vmovdqu %ymm12, 544(%rax)\n  vmovdqu %ymm13, 576(%rax)\n"
    "  vmovdqu %ymm14, 608(%rax)\n  vmovdqu %ymm15, 640(%rax)\n"
    "  fnsave 672(%rax)\n  frstor 672(%rax)\n  stmxcsr 780(%rax)\n"
    "  mov %fs:0, %rbx\n   mov %rbx, 144(%rax)\n"
    "  mov %fs:own@tpoff+24, %rbx\n  mov %rbx, 0(%rax)\n"
    "  lea probe(%rip), %rbx\n       mov %rbx, 976(%rax)\n"
    // Copies the window and the top of the stack; changes only ymm0 and rbx.
    "  mov %fs:own@tpoff+16, %rbx\n  mov %rbx, 152(%rax)\n"
    "  vmovdqu 0(%rbx), %ymm0\n   vmovdqu %ymm0, 784(%rax)\n"
    "  vmovdqu 32(%rbx), %ymm0\n  vmovdqu %ymm0, 816(%rax)\n"
    "  vmovdqu 64(%rbx), %ymm0\n  vmovdqu %ymm0, 848(%rax)\n"
    "  vmovdqu 96(%rbx), %ymm0\n  vmovdqu %ymm0, 880(%rax)\n"
    "  vmovdqu 0(%rsp), %ymm0\n   vmovdqu %ymm0, 912(%rax)\n"
    "  vmovdqu 32(%rsp), %ymm0\n  vmovdqu %ymm0, 944(%rax)\n"
    "  vmovdqu 160(%rax), %ymm0\n"
    // From here on it writes below the stack pointer.
    "  pushfq\n  popq %rbx\n  mov %rbx, 136(%rax)\n"
    "  lea 1024(%rax), %rbx\n  mov %rbx, %fs:own@tpoff\n"
    "  mov 16(%rax), %rbx\n  mov 8(%rax), %rax\n"
    "  ret\n.size probe,.-probe\n");

/// Loads all registers with random numbers from memory and calls probe().
struct chaos {
  uint64_t general[16]; // as in a record; rsp is not used
  uint64_t flags;       // 128
  uint32_t mxcsr;       // 136
  uint16_t control;     // 140
  uint16_t zero;
  uint64_t depth;      // 144: numbers pushed onto the x87 stack
  uint64_t zeros[1];   // 152
  uint8_t ymm[16][32]; // 160
  double numbers[8];   // 672
};
void scramble(const struct chaos *);
__asm__(
    ".text\n.globl scramble\n.type scramble,@function\nscramble:\n"
    "  push %rbx\n  push %rbp\n  push %r12\n  push %r13\n  push %r14\n"
    "  push %r15\n  sub $8, %rsp\n"
    "  fnstcw (%rsp)\n  stmxcsr 4(%rsp)\n"
    "  mov 144(%rdi), %rcx\n"
    "1: test %rcx, %rcx\n  jz 2f\n"
    "  fldl 664(%rdi,%rcx,8)\n  dec %rcx\n  jmp 1b\n"
    "2: fldcw 140(%rdi)\n  ldmxcsr 136(%rdi)\n"
    "  vmovdqu 160(%rdi), %ymm0\n   vmovdqu 192(%rdi), %ymm1\n"
    "  vmovdqu 224(%rdi), %ymm2\n   vmovdqu 256(%rdi), %ymm3\n"
    "  vmovdqu 288(%rdi), %ymm4\n   vmovdqu 320(%rdi), %ymm5\n"
    "  vmovdqu 352(%rdi), %ymm6\n   vmovdqu 384(%rdi), %ymm7\n"
    "  vmovdqu 416(%rdi), %ymm8\n   vmovdqu 448(%rdi), %ymm9\n"
    "  vmovdqu 480(%rdi), %ymm10\n  vmovdqu 512(%rdi), %ymm11\n"
    "  vmovdqu 544(%rdi), %ymm12\n  vmovdqu 576(%rdi), %ymm13\n"
    "  vmovdqu 608(%rdi), %ymm14\n  vmovdqu 640(%rdi), %ymm15\n"
    "  vpaddq %ymm1, %ymm2, %ymm3\n  vmulpd %ymm4, %ymm5, %ymm6\n"
    "  pxor %xmm7, %xmm8\n  addps %xmm9, %xmm10\n"
    "  pushq 128(%rdi)\n  popfq\n"
    "  mov 0(%rdi), %rax\n   mov 8(%rdi), %rbx\n  mov 16(%rdi), %rcx\n"
    "  mov 24(%rdi), %rdx\n  mov 32(%rdi), %rsi\n mov 48(%rdi), %rbp\n"
    "  mov 64(%rdi), %r8\n   mov 72(%rdi), %r9\n  mov 80(%rdi), %r10\n"
    "  mov 88(%rdi), %r11\n  mov 96(%rdi), %r12\n mov 104(%rdi), %r13\n"
    "  mov 112(%rdi), %r14\n mov 120(%rdi), %r15\n"
    "  mov 40(%rdi), %rdi\n"
    "  call probe\n"
    // The flags are then those of an instruction, not those that were loaded.
    "  cld\n  add %r8, %rax\n  call probe\n"
    "  imul %r9, %rcx\n  call probe\n  shr $3, %edx\n  call probe\n"
    "  fninit\n  fldcw (%rsp)\n  ldmxcsr 4(%rsp)\n  vzeroupper\n"
    "  call probe\n"
    "  add $8, %rsp\n  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n"
    "  pop %rbp\n  pop %rbx\n  ret\n.size scramble,.-scramble\n");

#define PROBE() __asm__ volatile("call probe" : : : "memory")

static int file;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t common[4096];

static uint64_t next(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static void start_log(void) {
  own.next = own.records;
  own.thread = gettid();
}

static void flush(void) {
  size_t size = (uint8_t *)own.next - (uint8_t *)own.records;
  CHECK(write(file, own.records, size) == (ssize_t)size);
  own.next = own.records;
}

static void look_at(const void *from) { own.window = (uint64_t)from; }

static void handler(int number) {
  volatile int local = number * 3;
  PROBE();
  local += 1;
  PROBE();
}

static void random_registers(uint64_t *state) {
  struct chaos c;
  memset(&c, 0, sizeof(c));
  for (int i = 0; i < 16; i++)
    c.general[i] = next(state);
  // Carry, parity, adjust, zero, sign, direction, overflow.
  c.flags = 0x202 | (next(state) & 0xcd5);
  // All exceptions are masked. Valgrind keeps only the rounding mode.
  c.mxcsr = 0x1f80 | (next(state) & 3) << 13;
  c.control = 0x37f | (next(state) & 3) << 10;
  c.depth = next(state) % 9;
  for (int i = 0; i < 16; i++)
    for (int b = 0; b < 32; b += 8) {
      uint64_t value = next(state);
      memcpy(c.ymm[i] + b, &value, 8);
    }
  for (int i = 0; i < 8; i++)
    c.numbers[i] = (double)(int64_t)next(state) / (1 + next(state) % 1000);
  scramble(&c);
}

/// Calls probe() from code as compilers generate it.
static double ordinary(uint64_t *state, uint8_t *memory) {
  double sum = 0;
  long double wide = 1;
  for (int i = 0; i < 6; i++) {
    uint64_t value = next(state);
    memory[value % 4096] ^= (uint8_t)(value >> 20);
    look_at(memory + value % (4096 - WINDOW));
    sum += (double)value / (i + 1);
    wide = wide * 3 + value % 7;
    PROBE();
    memmove(memory + value % 2000, memory + 2000, value % 1000);
    PROBE();
  }
  return sum + (double)wide;
}

static void shared_memory(uint64_t *state) {
  pthread_mutex_lock(&lock);
  uint64_t value = next(state);
  look_at(common + value % (sizeof(common) - WINDOW));
  memcpy(common + (value >> 16) % (sizeof(common) - 8), &value, 8);
  PROBE();
  sched_yield();
  PROBE();
  pthread_mutex_unlock(&lock);
}

/// Uses memory that the kernel writes and memory that is unmapped again.
static void from_outside(uint64_t *state) {
  int ends[2];
  uint8_t *memory =
      mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED && pipe(ends) == 0);
  look_at(memory + 4096 - 64);
  PROBE();
  uint64_t values[16];
  for (int i = 0; i < 16; i++)
    values[i] = next(state);
  CHECK(write(ends[1], values, 100) == 100);
  CHECK(read(ends[0], memory + 4096 - 50, 100) == 100);
  PROBE();
  CHECK(madvise(memory, 4096, MADV_DONTNEED) == 0);
  PROBE();
  memory[4095] = 77;
  PROBE();
  close(ends[0]);
  close(ends[1]);
  look_at(common + 1000); // the caller holds the lock
  CHECK(munmap(memory, 8192) == 0);
  PROBE();
}

static volatile double sink;

static void *work(void *argument) {
  uint64_t state = 88172645463325252ull + (uint64_t)argument * 7919;
  uint8_t *memory = calloc(1, 4096);
  start_log();
  for (int i = 0; i < 40; i++) {
    look_at(memory + 512);
    random_registers(&state);
    sink = ordinary(&state, memory);
    pthread_mutex_lock(&lock);
    look_at(common + 64);
    raise(SIGUSR1);
    pthread_mutex_unlock(&lock);
    shared_memory(&state);
    pthread_mutex_lock(&lock);
    from_outside(&state);
    pthread_mutex_unlock(&lock);
    flush();
  }
  free(memory);
  return 0;
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  file = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
  CHECK(file >= 0);
  struct sigaction action = {.sa_handler = handler};
  CHECK(sigaction(SIGUSR1, &action, 0) == 0);
  pthread_t others[3];
  for (uint64_t i = 0; i < 3; i++)
    CHECK(pthread_create(&others[i], 0, work, (void *)(i + 1)) == 0);
  work(0);
  for (int i = 0; i < 3; i++)
    CHECK(pthread_join(others[i], 0) == 0);
  return 0;
}
