// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of many kinds, none of which changes anything that another sees,
// and a state that changes from tick to tick.
#include <cstdarg>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct Point {
  int X, Y;
  Point operator+(const Point &Other) const {
    return {X + Other.X, Y + Other.Y};
  }
  bool operator<(const Point &Other) const { return X < Other.X; }
  int operator[](int I) const { return I ? Y : X; }
  operator bool() const { return X != 0; }
};
struct Wide {
  long A[6];
};
struct Mixed {
  double D;
  int I;
};
struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
  virtual std::string name() const {
    return "a shape without a name of its own";
  }
};
struct Circle : Shape {
  double R = 2;
  double area() const override { return R * R * 3; }
};
struct Square : Shape {
  double Side = 4;
  double area() const override { return Side * Side; }
  std::string name() const override { return "square"; }
};
enum class Colour { Red, Green, Blue };

template class std::vector<int>;
template class std::vector<Point>;
template class std::unique_ptr<Circle>;

std::vector<int> Numbers;
std::vector<Point> Points;
std::string Text = "start";
std::unique_ptr<Circle> Owned = std::make_unique<Circle>();
Shape *Shapes[2];
Point Here{1, 2}, There{10, 20};
long State = 1;
thread_local int PerThread = 3;
static int (*Chosen)(int, int);

int add(int A, int B) { return A + B; }
int subtract(int A, int B) { return A - B; }
long power(long Base, unsigned Exponent) {
  return Exponent ? Base * power(Base, Exponent - 1) : 1;
}
double half(double X) { return X / 2; }
float third(float X) { return X / 3; }
long double quarter(long double X) { return X / 4; }
bool isEven(int N) { return N % 2 == 0; }
char letter(int N) { return char('a' + N % 26); }
unsigned char byteOf(unsigned N) { return static_cast<unsigned char>(N); }
Colour colour(int N) { return Colour(N % 3); }
Point pointAt(int N) { return {N, N * N}; }
Mixed mixed(int N) { return {N / 4.0, N}; }
Wide wide(int N) {
  Wide W;
  for (int I = 0; I < 6; ++I)
    W.A[I] = N * I + State;
  return W;
}
long sumOf(const Wide &W) { return W.A[0] + W.A[1] + W.A[5]; }
std::string label(int N) {
  return "number " + std::to_string(N) + " of a long text in " + Text;
}
const char *pick(int N) { return N % 2 ? "odd" : "even"; }
int lengthOf(const char *S) {
  int N = 0;
  while (S[N])
    ++N;
  return N;
}
int total(int Count, ...) {
  va_list List;
  va_start(List, Count);
  int Sum = 0;
  while (Count-- > 0)
    Sum += va_arg(List, int);
  va_end(List);
  return Sum;
}
double blend(double A, int B, float C, long D, double E, int F, int G, int H,
             int I, int J) {
  return A + B * 2 + C * 3 + D * 4 + E * 5 + F + G + H + I - J;
}
int sumNumbers() {
  int Sum = 0;
  for (int N : Numbers)
    Sum += N;
  return Sum;
}
std::vector<int> multiples(int N, int Of) {
  std::vector<int> Result;
  for (int I = 0; I < N; ++I)
    Result.push_back(I * Of);
  return Result;
}
std::map<int, std::string> names(int N) {
  std::map<int, std::string> Result;
  for (int I = 0; I < N; ++I)
    Result[I] = std::string(20 + I, letter(I));
  return Result;
}
int perThread(int N) { return PerThread * N; }
int chosen(int A, int B) { return Chosen(A, B); }
double areaOf(const Shape &S) { return S.area(); }
std::string nameOf(const Shape *S) { return S->name(); }
int caught(int N) {
  try {
    if (N % 2)
      throw N;
    return 0;
  } catch (int Thrown) {
    return Thrown;
  }
}

int tick(int I) {
  int Local = I * 3;
  State = State * 31 + I;
  Numbers.push_back(I);
  Points.push_back(pointAt(I));
  Text += letter(I);
  Owned->R += 1;
  Chosen = I % 2 ? add : subtract;
  Here = Here + There;
  return Local; // line: ticked
}

int main() {
  Circle C;
  Square S;
  Shapes[0] = &C;
  Shapes[1] = &S;
  long Sum = 0;
  for (int I = 0; I < 40; ++I)
    Sum += tick(I);
  // Makes the compiler emit what only expressions use.
  Sum += total(2, 1, 2) + caught(3) + sumOf(wide(1)) + multiples(2, 3).size() +
         names(2).size();
  printf("%ld %s %Lg\n", Sum, label(1).c_str(), quarter(1));
  return 0;
}
