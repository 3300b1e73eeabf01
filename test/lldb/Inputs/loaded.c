// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The library that is loaded, and that crashes.
int LoadedCount;

int thrice(int Value) {
  LoadedCount += Value;
  return 3 * Value;
}

int crash(int Value) {
  int *Nowhere = 0;
  LoadedCount = 99;
  return *Nowhere + Value;
}
