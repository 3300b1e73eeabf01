// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every way to get into a function and out of it that a debugger's step forward
// follows too: what leaves several at once (longjmp, exceptions) is elsewhere.
// With PLAIN without functions of the standard library that may be inlined: of
// those LLDB avoids the beginning and not always the rest.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <pthread.h>
#include <string>

static volatile int Sink;

#define NOINLINE __attribute__((noinline))

struct Shape {
  virtual ~Shape() {}
  virtual int area() const = 0;
};

struct Square : Shape {
  explicit Square(int Side) : Side(Side) {}
  int area() const override { return Side * Side; }
  int Side;
};

struct Pair : Shape {
  Pair(int A, int B) : Left(A), Right(B) {}
  int area() const override {
    int Sum = Left.area();
    Sum += Right.area();
    return Sum;
  }
  Square Left, Right;
};

template <typename T> NOINLINE static T largest(const T *Values, int Count) {
  T Best = Values[0];
  for (int I = 1; I < Count; ++I)
    if (Best < Values[I])
      Best = Values[I];
  return Best;
}

NOINLINE static int fibonacci(int N) {
  if (N < 2)
    return N;
  int Before = fibonacci(N - 1);
  return Before + fibonacci(N - 2);
}

NOINLINE static int last(int N) {
  Sink = N;
  return N + 1;
}

NOINLINE static int middle(int N) {
  Sink = N + 1;
  return last(N * 2); // a jump, if optimised
}

NOINLINE static int countdown(int N) {
  if (N == 0)
    return Sink;
  Sink = N;
  return countdown(N - 1);
}

static inline __attribute__((always_inline)) int halve(int N) {
  int Half = N / 2;
  Sink = Half;
  return Half;
}

static inline __attribute__((always_inline)) int quarter(int N) {
  int Half = halve(N);
  return halve(Half);
}

static void handler(int Signal) { Sink = Signal; }

NOINLINE static int lambdas(int N) {
  auto Add = [N](int M) { return N + M; };
  int Result = Add(1);
  Result += Add(2);
  return Result;
}

NOINLINE static int library(char *Text) {
  strcpy(Text, "three words here");
  int Length = int(strlen(Text));
  Length += puts(Text);
  return Length;
}

static int compare(const void *A, const void *B) {
  int Left = *static_cast<const int *>(A);
  int Right = *static_cast<const int *>(B);
  return Left - Right;
}

NOINLINE static int sorted(int *Values) {
  qsort(Values, 4, sizeof(int), compare);
  return Values[0];
}

#ifndef PLAIN
NOINLINE static int standard(int N) {
  std::function<int(int)> Twice = [&](int M) {
    int Sum = N + M;
    return Sum + Sum;
  };
  int Result = Twice(2);
  std::string Text("some words");
  int Values[] = {N, 7, 3, 5};
  std::sort(Values, Values + 4, [](int A, int B) { return A > B; });
  std::unique_ptr<Shape> Two(new Pair(N, 2));
  Result += Two->area();
  return Result + Values[0] + int(Text.size());
}

#endif

static void *work(void *Argument) {
  int *Result = static_cast<int *>(Argument);
  for (int I = 0; I < 3; ++I)
    *Result += last(I);
  return nullptr;
}

NOINLINE static int threads(int N) {
  int Results[2] = {N, N};
  pthread_t Threads[2];
  for (int I = 0; I < 2; ++I)
    pthread_create(&Threads[I], nullptr, work, &Results[I]);
  for (int I = 0; I < 2; ++I)
    pthread_join(Threads[I], nullptr);
  return Results[0] + Results[1];
}

NOINLINE static int everything(int N) {
  int Values[] = {N, 7, 3, 5};
  char Text[32];
  Pair Two(N, 2);
  Shape *Any = &Two;
  int Sum = Any->area();
  Sum += largest(Values, 4);
  Sum += fibonacci(4);
  Sum += middle(Sum);
  Sum += countdown(3);
  Sum += quarter(Sum);
  Sum += lambdas(Sum);
  Sum += library(Text);
  Sum += sorted(Values);
  raise(SIGUSR1);
  Sum += threads(1);
#ifndef PLAIN
  Sum += standard(Sum);
#endif
  for (int I = 0; I < 2; ++I)
    Sum += last(I);
  return Sum;
}

int main() {
  signal(SIGUSR1, handler);
  int Sum = everything(3); // line: start
  Sink = Sum;              // line: end
  return 0;
}
