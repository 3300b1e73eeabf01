// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks past the end of a list.
#include <stddef.h>

struct Node {
  struct Node *Next;
  int Value;
};

static int sum(struct Node *N) {
  int S = 0;
  for (int I = 0; I < 3; ++I) {
    S += N->Value; // line: fault
    N = N->Next;   // line: next
  }
  return S;
}

int main(void) {
  struct Node B = {NULL, 2}, A = {&B, 1};
  return sum(&A); // line: call
}
