// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Jumps with setjmp and longjmp over many frames and back and forth, and
// switches between coroutines with swapcontext.
#define _GNU_SOURCE
#include "Check.h"
#include <setjmp.h>
#include <ucontext.h>

static jmp_buf Out;
static int Depths;

__attribute__((noinline)) static void dive(int Depth) {
  volatile char Frame[100];
  Frame[0] = (char)Depth;
  if (Depth == 0)
    longjmp(Out, 1);
  ++Depths;
  if (Depth > 0)
    dive(Depth - 1);
  Frame[1] = Frame[0];
}

static ucontext_t Main, Coroutines[3];
static char Stacks[3][32768];
static int Order[100], Steps;

static void coroutine(int Number) {
  double Sum = Number;
  for (int I = 0; I < 10; ++I) {
    Order[Steps++] = Number;
    Sum = Sum * 1.5 + I;
    swapcontext(&Coroutines[Number], &Coroutines[(Number + 1) % 3]);
  }
  CHECK(Sum > Number);
}

int main(void) {
  for (volatile int I = 0; I < 300; ++I) {
    int From = setjmp(Out);
    if (From == 0)
      dive(I % 40);
    CHECK(From == 1);
  }
  for (volatile int I = 0; I < 3; ++I) {
    CHECK(getcontext(&Coroutines[I]) == 0);
    Coroutines[I].uc_stack.ss_sp = Stacks[I];
    Coroutines[I].uc_stack.ss_size = sizeof(Stacks[I]);
    Coroutines[I].uc_link = &Main;
    makecontext(&Coroutines[I], (void (*)(void))coroutine, 1, I);
  }
  CHECK(swapcontext(&Main, &Coroutines[0]) == 0);
  for (int I = 0; I < Steps; ++I)
    CHECK(Order[I] == I % 3);
  printf("%d frames left, %d steps\n", Depths, Steps);
  return 0;
}
