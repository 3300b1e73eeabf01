// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function that overwrites the frames of all its callers.
#include <string.h>

static volatile int Sink;

static void smash(int Length) {
  int Local = Length;
  memset(&Local, 0, Length);
  Sink = Length; // here the stack is gone
  __builtin_trap();
}

static void middle(int Depth, int Length) {
  int Kept = Depth * 10;
  if (Depth == 0)
    smash(Length);
  else
    middle(Depth - 1, Length);
  Sink = Kept;
}

int main(void) {
  middle(2, 400);
  return 0;
}
