// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops of a million rounds on one line, without calls and with one in each round.
static volatile int Sum;

static int half(int N) {
  return N / 2;
}

int main(void) {
  int Rounds = 1000000;
  for (int I = 0; I < Rounds; ++I) Sum += I;
  for (int I = 0; I < Rounds; ++I) Sum += half(I);
  Sum ^= Rounds; // line: after
  return 0;
}
