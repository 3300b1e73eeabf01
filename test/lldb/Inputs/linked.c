// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The library with which programs are linked.
int LinkedCount;

int twice(int Value) {
  LinkedCount += Value;
  return 2 * Value;
}
