// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls a function so often that a breakpoint with a false condition takes
// minutes.
static volatile int Total;

__attribute__((noinline)) static void tick(int Number) {
  Total += Number & 1; // line: tick
}

int main(void) {
  for (int I = 0; I < 300000; ++I)
    tick(I);
  return Total == 150000 ? 0 : 1;
}
