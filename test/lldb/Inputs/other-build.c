// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dies with a value that a library made.
int twice(int);

__attribute__((noinline)) static void store(volatile int *Where, int Value) {
  volatile int Copy = Value;
  *Where = Copy;
}

int main(int Count, char **Arguments) {
  int Value = twice(Count);
  store(0, Value);
  return Value;
}
