// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a few thousand instructions of all sorts, without a C library and on a
// stack of its own at a fixed address, so that every register and every byte is
// the same in each run. test/lib/step.py steps through it with Valgrind's
// debugger stub.
#include <stdint.h>

#define SIZE 256
uint8_t stack[16384] __attribute__((aligned(64)));
uint8_t bytes[SIZE] __attribute__((aligned(64)));
uint64_t words[SIZE];
double numbers[SIZE];
float singles[16] __attribute__((aligned(16)));
int16_t shorts[16] __attribute__((aligned(16)));
volatile uint64_t result;

static uint64_t random_state = 88172645463325252ull;
static uint64_t next(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

static void sort(uint64_t *first, long count) {
  if (count < 2)
    return;
  uint64_t pivot = first[count / 2];
  long low = 0, high = count - 1;
  while (low <= high) {
    while (first[low] < pivot)
      low++;
    while (first[high] > pivot)
      high--;
    if (low <= high) {
      uint64_t t = first[low];
      first[low++] = first[high];
      first[high--] = t;
    }
  }
  sort(first, high + 1);
  sort(first + low, count - low);
}

static void flags_and_shifts(void) {
  uint64_t a = next(), b = next() | 1;
  __asm__ volatile(
      "add %1, %0; adc $5, %0; sbb %1, %0; rol $7, %0; ror $3, %0;"
      "shl $2, %0; sar $1, %0; shr $3, %0; rcl $1, %0; rcr $2, %0;"
      "bsf %1, %%rcx; bsr %1, %%rdx; bt $3, %0; setc %%cl;"
      "neg %0; not %0; inc %0; dec %0; xadd %1, %0; bswap %0;"
      "mul %1; imul $77, %1, %1; cmp %0, %1; cmovb %1, %0; std; cld"
      : "+a"(a), "+r"(b)
      :
      : "rcx", "rdx", "cc");
  result += a / b + a % 1000003 + b;
}

static void strings(void) {
  void *to = bytes + 100, *from = bytes;
  uint64_t count = 40;
  __asm__ volatile("rep movsb"
                   : "+D"(to), "+S"(from), "+c"(count)
                   :
                   : "memory");
  to = bytes + 60;
  count = 9;
  __asm__ volatile("rep stosq"
                   : "+D"(to), "+c"(count)
                   : "a"(0x1122334455667788)
                   : "memory");
  to = bytes;
  count = 200;
  __asm__ volatile("repne scasb"
                   : "+D"(to), "+c"(count)
                   : "a"(0x55)
                   : "cc", "memory");
  result += count;
}

static void floats(void) {
  for (int i = 0; i < 16; i++)
    numbers[i] = (double)(int64_t)next() / (double)(i + 1);
  double sum = 0;
  for (int i = 0; i < 16; i++)
    sum += numbers[i] * 0.5 - sum / 3;
  numbers[20] = sum;
  __asm__ volatile(
      "fldl %1; fldl %2; fadd %%st(1), %%st; fsqrt; fmulp; fld1; faddp;"
      "fistpll %0"
      : "=m"(words[3])
      : "m"(numbers[4]), "m"(numbers[5])
      : "st", "st(1)", "st(2)");
  for (int i = 0; i < 16; i++) {
    singles[i] = (float)i * 1.25f;
    shorts[i] = (int16_t)next();
  }
  __asm__ volatile(
      "movaps %1, %%xmm1; movaps 16+%1, %%xmm2; mulps %%xmm1, %%xmm2;"
      "addps %%xmm2, %%xmm1; shufps $0x1b, %%xmm1, %%xmm2;"
      "movdqa %2, %%xmm3; paddsw 16+%2, %%xmm3; pmulhw %2, %%xmm3;"
      "punpcklbw %%xmm3, %%xmm2; pshufd $0x4e, %%xmm3, %%xmm4;"
      "pcmpgtw %%xmm4, %%xmm3; pmovmskb %%xmm3, %%eax; movaps %%xmm2, %0"
      : "=m"(singles[8])
      : "m"(singles[0]), "m"(shorts[0])
      : "xmm1", "xmm2", "xmm3", "xmm4", "rax");
}

static uint64_t hash(const uint8_t *from, int count) {
  uint64_t value = 14695981039346656037ull;
  for (int i = 0; i < count; i++)
    value = (value ^ from[i]) * 1099511628211ull;
  return value;
}

__attribute__((used)) static void run(void) {
  for (int i = 0; i < SIZE; i++)
    bytes[i] = (uint8_t)next();
  for (int i = 0; i < 40; i++)
    words[i] = next() % 1000;
  sort(words, 40);
  flags_and_shifts();
  strings();
  floats();
  flags_and_shifts();
  result += hash(bytes, SIZE);
  __asm__ volatile("syscall" : : "a"(231), "D"(0) : "rcx", "r11", "memory");
}

__asm__(".globl _start\n"
        "_start:\n"
        "  lea stack+16384(%rip), %rsp\n"
        "  xor %eax, %eax\n  xor %ebx, %ebx\n  xor %ecx, %ecx\n"
        "  xor %edx, %edx\n  xor %esi, %esi\n  xor %edi, %edi\n"
        "  xor %ebp, %ebp\n  xor %r8d, %r8d\n  xor %r9d, %r9d\n"
        "  xor %r10d, %r10d\n  xor %r11d, %r11d\n  xor %r12d, %r12d\n"
        "  xor %r13d, %r13d\n  xor %r14d, %r14d\n  xor %r15d, %r15d\n"
        "  call run\n");
