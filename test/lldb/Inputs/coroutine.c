// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A coroutine with a stack of its own, in the same thread.
#include <stdio.h>
#include <ucontext.h>
static ucontext_t Main, Other;
static char Stack[65536];
static volatile int Sink;
static int inner(int N) {
  Sink = N;
  swapcontext(&Other, &Main); // line: yield
  Sink = N + 1;               // line: resumed
  return N;
}
static void generator(void) {
  for (int I = 0; I < 3; ++I) // line: loop
    inner(I * 10);            // line: inner
}
static int next(int N) {
  int Before = Sink;          // line: before
  swapcontext(&Main, &Other); // line: switch
  return Sink + Before + N;   // line: after
}
int main(void) {
  getcontext(&Other);
  Other.uc_stack.ss_sp = Stack;
  Other.uc_stack.ss_size = sizeof(Stack);
  Other.uc_link = &Main;
  makecontext(&Other, generator, 0);
  int Sum = next(1);
  Sum += next(2);
  Sum += next(3);
  Sum += next(4);
  printf("%d\n", Sum); // line: end
  return 0;
}
