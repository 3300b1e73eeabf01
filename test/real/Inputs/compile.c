// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
struct List {
  struct List *Next;
  double Values[8];
};

double sum(const struct List *List) {
  double Sum = 0;
  for (; List; List = List->Next)
    for (int I = 0; I < 8; ++I)
      Sum += List->Values[I] * (I & 1 ? -1.5 : 2.25);
  return Sum;
}

unsigned hash(const char *Text) {
  unsigned Hash = 5381;
  while (*Text)
    Hash = Hash * 33 ^ (unsigned char)*Text++;
  return Hash;
}

int classify(int Kind, int Value) {
  switch (Kind) {
  case 0:
    return Value / 3;
  case 1:
    return Value % 7;
  case 2:
    return Value << 3;
  case 5:
    return -Value;
  default:
    return 0;
  }
}

static int fibonacci(int N) {
  return N < 2 ? N : fibonacci(N - 1) + fibonacci(N - 2);
}
int callFibonacci(void) { return fibonacci(20); }
