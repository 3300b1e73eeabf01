// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls, recursion and loops, without a library: gdb records it by itself too.
static int Counter;
static int History[8];

static int add(int A, int B) {
  Counter += B;
  return A + B;
}

static int sum(int N) {
  if (N == 0)
    return 0;
  int Rest = sum(N - 1);
  return add(Rest, N);
}

static int loop(int Times) {
  int Total = 0;
  for (int I = 0; I < Times; ++I) {
    Total += sum(I);
    History[I % 8] = Total;
  }
  return Total;
}

static void finished(int Result) { Counter = -Result; }

int main(void) {
  int Result = loop(6);
  Result = add(Result, 1);
  finished(Result);
  return 0;
}
