// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Changes its code. It writes code at run time and rewrites it in place, in
// pages of its own, in its own text, from another thread, and after the code
// has moved.
#define _GNU_SOURCE
#include "Check.h"
#include <pthread.h>
#include <sys/mman.h>

typedef int (*Function)(void);

// mov $value, %eax; ret
static void emit(unsigned char *Code, int Value) {
  Code[0] = 0xb8;
  memcpy(Code + 1, &Value, 4);
  Code[5] = 0xc3;
}

__attribute__((noinline, aligned(64))) static int patched(void) {
  int Value;
  __asm__ volatile(".globl patchMe\npatchMe: movl $1000, %0" : "=r"(Value));
  return Value;
}
extern unsigned char patchMe[];

// Compiles a sum of products to straight-line code.
static size_t compile(unsigned char *Code, const int *Terms, int Count) {
  unsigned char *P = Code;
  *P++ = 0x31, *P++ = 0xc0; // xor %eax, %eax
  for (int I = 0; I < Count; ++I) {
    *P++ = 0x69, *P++ = 0xcf; // imul $term, %edi, %ecx
    memcpy(P, &Terms[I], 4), P += 4;
    *P++ = 0x01, *P++ = 0xc8; // add %ecx, %eax
  }
  *P++ = 0xc3;
  return (size_t)(P - Code);
}

static void *rewrite(void *Argument) {
  emit(Argument, 31337);
  return NULL;
}

int main(void) {
  unsigned char *Code = mmap(NULL, 65536, PROT_READ | PROT_WRITE | PROT_EXEC,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(Code != MAP_FAILED);
  long Sum = 0;
  for (int I = 0; I < 200; ++I) {
    emit(Code, I);
    Sum += ((Function)Code)();
    Sum += ((Function)Code)();
  }
  CHECK(Sum == 200 * 199);

  // The same with W^X: the page is never writable and executable at once.
  unsigned char *Strict = Code + 8192;
  for (int I = 0; I < 20; ++I) {
    CHECK(mprotect(Strict, 4096, PROT_READ | PROT_WRITE) == 0);
    emit(Strict, I * 5);
    CHECK(mprotect(Strict, 4096, PROT_READ | PROT_EXEC) == 0);
    CHECK(((Function)Strict)() == I * 5);
  }

  // The page is unmapped and mapped again at the same place.
  for (int I = 0; I < 20; ++I) {
    unsigned char *Again =
        mmap(Code + 16384, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    emit(Again, I);
    CHECK(((Function)Again)() == I);
    CHECK(munmap(Again, 4096) == 0);
  }

  // The program's own text.
  uintptr_t Page = (uintptr_t)patchMe & ~(uintptr_t)4095;
  CHECK(patched() == 1000);
  CHECK(mprotect((void *)Page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
  for (int I = 0; I < 30; ++I) {
    int Value = 2000 + I;
    // The constant is the last four bytes of the five-byte instruction.
    memcpy(patchMe + 1, &Value, 4);
    CHECK(patched() == Value);
  }

  int Terms[64];
  for (int Round = 0; Round < 50; ++Round) {
    int Expected = 0;
    for (int I = 0; I < 64; ++I)
      Terms[I] = (int)(nextRandom() & 0xffff), Expected += Terms[I];
    unsigned char *At = Code + 20480 + Round * 13;
    size_t Size = compile(At, Terms, 64);
    CHECK(Size < 1000 && ((int (*)(int))At)(3) == 3 * Expected);
  }

  emit(Code, 1);
  CHECK(((Function)Code)() == 1);
  pthread_t Thread;
  CHECK(pthread_create(&Thread, NULL, rewrite, Code) == 0);
  pthread_join(Thread, NULL);
  CHECK(((Function)Code)() == 31337);
  printf("self-modifying code done, sum %ld\n", Sum);
  return 0;
}
