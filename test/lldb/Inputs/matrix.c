// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Has everything that a debugger can show of C: every kind of type, frames with
// arguments in registers and on the stack, globals, recursion.
#include <stdio.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
#define KEEP(X) __asm__ volatile("nop" : : "g"(X) : "memory")

enum Colour { Red, Green = 5, Blue };
union Number {
  unsigned long Whole;
  double Real;
  unsigned char Bytes[8];
};
struct Point {
  int X, Y;
};
struct Shape {
  const char *Name;
  enum Colour Colour;
  struct Point Corners[3];
  union Number Size;
  unsigned Filled : 1, Layer : 4;
  signed Depth : 5;
  struct Shape *Next;
  int (*Area)(const struct Shape *);
};

static int StaticCount = 7;
int GlobalTable[4] = {1, 10, 100, 1000};
double GlobalReal = 2.5;
const char *GlobalText = "text of a global";

NOINLINE static int areaOf(const struct Shape *S) {
  int Area = S->Corners[1].X * S->Corners[2].Y / 2; // line: area
  KEEP(Area);
  return Area;
}

NOINLINE static int factorial(int N) {
  int Result = 1;
  if (N > 1)
    Result = N * factorial(N - 1);
  KEEP(Result); // line: factorial
  KEEP(N);
  return Result;
}

NOINLINE static long many(int A, long B, short C, char D, float E, double F,
                          const char *G, struct Point H, int I, long J, int K) {
  long Sum = A + B + C + D + (long)E + (long)F + (long)strlen(G) + H.X + H.Y +
             I + J + K;
  KEEP(Sum); // line: many
  return Sum;
}

NOINLINE static void touch(int Step) {
  StaticCount += Step;
  GlobalTable[Step % 4] += StaticCount; // line: touch
  KEEP(StaticCount);
}

NOINLINE static int loop(int Times) {
  int Total = 0;
  for (int I = 0; I < Times; ++I) {
    touch(I);
    Total += StaticCount;
    KEEP(Total); // line: loop
    KEEP(I);     // line: kept
  }
  return Total;
}

int main(int Count, char **Arguments) {
  struct Point At = {-1, 12};
  long Sum = 0;
  int Area = 0, Product = 0, Total = 0;
  struct Shape Second = {
      "second", Blue,  {{0, 0}, {6, 0}, {0, 8}}, {.Real = 1.5}, 1, 9, -3,
      NULL,     areaOf};
  struct Shape First = {
      "first", Green, {{0, 0}, {2, 0}, {0, 3}}, {.Whole = 42}, 0, 3, 4,
      &Second, areaOf};
  for (const struct Shape *S = &First; S; S = S->Next)
    Area += S->Area(S); // line: main
  Sum = many(1, 2, 3, 'd', 5.5f, 6.25, "seven", At, 9, 10, 11);
  Product = factorial(6);
  Total = loop(20);
  KEEP(&First);
  printf("%d %ld %d %d %d\n", Area, Sum, Product, Total, Count); // line: print
  return Total & 1;
}
