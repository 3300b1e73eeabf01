// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Has what a debugger can show of C++: containers that LLDB's formatters know,
// virtual calls, templates, lambdas, exceptions, namespaces, references.
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

#define NOINLINE __attribute__((noinline))
#define KEEP(X) __asm__ volatile("nop" : : "r"(&(X)) : "memory")

namespace zoo {

struct Animal {
  explicit Animal(std::string Name) : Name(std::move(Name)) {}
  virtual ~Animal() = default;
  virtual int legs() const = 0;
  std::string Name;
  static int Alive;
};
int Animal::Alive = 0;

struct Bird : Animal {
  Bird(std::string Name, double Span) : Animal(std::move(Name)), Span(Span) {
    ++Alive;
  }
  NOINLINE int legs() const override {
    int Legs = 2; // line: bird
    KEEP(Legs);
    return Legs;
  }
  double Span;
};

struct Spider final : Animal {
  using Animal::Animal;
  NOINLINE int legs() const override {
    int Legs = 8; // line: spider
    KEEP(Legs);
    return Legs;
  }
  enum class Mood { Calm, Angry } State = Mood::Angry;
};

template <class T, unsigned N> struct Ring {
  T Slots[N] = {};
  unsigned Next = 0;
  NOINLINE void push(const T &Value) {
    Slots[Next % N] = Value; // line: push
    ++Next;
    KEEP(*this);
  }
};

template <class T> NOINLINE T largest(const std::vector<T> &Values) {
  T Best = Values.front();
  KEEP(Best);
  for (const T &Value : Values)
    if (Best < Value)
      Best = Value;
  KEEP(Best); // line: largest
  return Best;
}

} // namespace zoo

NOINLINE static int containers() {
  std::string Short = "short", Long(40, 'x'), Empty;
  std::vector<int> Numbers = {3, 1, 4, 1, 5};
  std::vector<bool> Bits = {true, false, true};
  std::map<std::string, int> Ages = {{"Ann", 31}, {"Bob", 27}};
  std::unordered_map<int, std::string> Names = {{7, "seven"}};
  std::set<int> Sorted = {30, 10, 20};
  std::shared_ptr<int> Shared = std::make_shared<int>(11), Other = Shared;
  std::optional<int> Some = 5, None;
  std::variant<int, std::string> Either = std::string("a string");
  std::pair<int, double> Pair = {1, 0.5};
  std::tuple<int, char, bool> Three = {6, 'c', true};
  const int &Reference = Numbers[2];
  int Sum = 0;
  const void *Kept[] = {&Short, &Long,  &Empty,  &Numbers, &Bits,
                        &Ages,  &Names, &Sorted, &Shared,  &Other,
                        &Some,  &None,  &Either, &Pair,    &Three};
  KEEP(Kept);
  Sum = Reference + int(Ages.size()); // line: containers
  KEEP(Sum);
  return Sum;
}

NOINLINE static int throwing(int Depth) {
  if (Depth == 0)
    throw std::runtime_error("deep down"); // line: throw
  int Result = throwing(Depth - 1) + 1;
  KEEP(Result);
  return Result;
}

NOINLINE static int catching() {
  try {
    return throwing(3);
  } catch (const std::exception &Error) {
    std::string What = Error.what();
    KEEP(What); // line: catch
    return int(What.size());
  }
}

static int Applied;
NOINLINE static int apply(int Count) {
  int Captured = 100;
  std::string Label = "captured";
  auto Add = [&, Count](int Value) __attribute__((noinline)) {
    Captured += Value * Count; // line: lambda
    KEEP(Captured);
    return int(Label.size());
  };
  int Total = 0;
  for (int I = 0; I < 3; ++I) {
    Total += Add(I);
    ++Applied;
    KEEP(Applied);
  }
  return Total + Captured;
}

int main() {
  zoo::Ring<int, 3> Ring;
  zoo::Ring<std::string, 2> Words;
  int Legs = 0, Best = 0, Held = 0, Caught = 0, Result = 0;
  double Real = 0;
  std::vector<std::unique_ptr<zoo::Animal>> Animals;
  Animals.push_back(std::make_unique<zoo::Bird>("wren", 0.25));
  Animals.push_back(std::make_unique<zoo::Spider>("tegenaria"));
  for (const auto &Animal : Animals)
    Legs += Animal->legs();
  for (int I = 0; I < 5; ++I)
    Ring.push(I * I);
  Words.push("one");
  Best = zoo::largest(std::vector<int>{4, 9, 2});
  Real = zoo::largest(std::vector<double>{0.5, 0.25});
  Held = containers();
  Caught = catching();
  Result = apply(7);
  std::printf("%d %d %g %d %d %d\n", Legs, Best, Real, Held, Caught, Result);
  return 0;
}
