// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function that runs often: a condition that is false each time takes minutes.
static volatile int Total;

__attribute__((noinline)) static void tick(int Number) {
  Total += Number & 1;
}

int main(void) {
  for (int I = 0; I < 300000; ++I)
    tick(I);
  return Total == 150000 ? 0 : 1;
}
