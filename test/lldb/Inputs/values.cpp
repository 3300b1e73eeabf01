// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of many types, written by many hands.
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

enum class Colour { Red, Green, Blue };
struct Point {
  int X;
  double Y;
};
struct Flags {
  unsigned Ready : 1, Count : 3;
};

Colour Shade = Colour::Red;
double Ratio = 0.5;
Point Where = {1, 2.5};
std::string Name = "first";
std::vector<int> Numbers;
char FromPipe[8];
Flags Bits;

__attribute__((noinline)) double scale(const Point &P, double By) {
  return P.Y * By;
}

__attribute__((noinline)) const char *nameOf(Colour C) {
  return C == Colour::Red ? "red" : "other";
}

struct Shape {
  virtual ~Shape() = default;
  virtual int corners(int Extra) const { return 3 + Extra; }
};
struct Square : Shape {
  int corners(int Extra) const override { return 4 + Extra; }
};

__attribute__((noinline)) int factorial(int N) {
  return N < 2 ? 1 : N * factorial(N - 1);
}

int main() {
  int Pipe[2];
  if (pipe(Pipe) || write(Pipe[1], "hello", 5) != 5 ||
      read(Pipe[0], FromPipe, 8) != 5)
    return 1;
  Shade = Colour::Blue;
  Ratio = scale(Where, 3);
  Where.Y = Ratio;
  Name = "a much longer second name";
  for (int I = 0; I < 3; ++I)
    Numbers.push_back(I * 10);
  Bits.Count = 5;
  std::thread Other([] { Where.X = 42; });
  Other.join();
  Square S;
  const Shape &Any = S;
  int Corners = Any.corners(factorial(4));
  return nameOf(Shade)[0] == 'o' && Corners == 28 ? 0 : 2;
}
