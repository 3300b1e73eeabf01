// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Uses C++: exceptions that pass frames with destructors, are rethrown, caught
// by base class and carried between threads; containers, virtual calls and
// std::function.
#include <cstdio>
#include <exception>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static int Alive, Destroyed;

struct Guard {
  Guard() { ++Alive; }
  ~Guard() { --Alive, ++Destroyed; }
};

struct Base {
  virtual ~Base() = default;
  virtual int value() const { return 1; }
};
struct Derived : Base {
  int Number;
  explicit Derived(int N) : Number(N) {}
  int value() const override { return Number; }
};

[[gnu::noinline]] static int thrower(int Depth) {
  Guard G;
  if (Depth == 0)
    throw std::runtime_error("from the bottom");
  if (Depth == 7)
    throw Derived(Depth);
  return thrower(Depth - 1) + 1;
}

[[gnu::noinline]] static std::string rethrow(int Depth) {
  try {
    Guard G;
    thrower(Depth);
  } catch (const std::exception &Error) {
    std::throw_with_nested(
        std::logic_error(std::string("on the way: ") + Error.what()));
  }
  return "not reached";
}

int main() {
  int Caught = 0;
  for (int I = 0; I < 200; ++I) {
    try {
      thrower(I % 12);
    } catch (const Base &B) {
      Caught += B.value();
    } catch (const std::exception &) {
      ++Caught;
    }
  }
  std::printf("caught %d, %d alive, %d destroyed\n", Caught, Alive, Destroyed);
  try {
    rethrow(3);
  } catch (const std::exception &Error) {
    std::printf("%s\n", Error.what());
    try {
      std::rethrow_if_nested(Error);
    } catch (const std::exception &Inner) {
      std::printf("  %s\n", Inner.what());
    }
  }
  auto Future = std::async(std::launch::async, [] { return thrower(2); });
  try {
    Future.get();
  } catch (const std::runtime_error &Error) {
    std::printf("from a thread: %s\n", Error.what());
  }
  std::map<std::string, std::vector<std::unique_ptr<Base>>> Map;
  for (int I = 0; I < 500; ++I)
    Map[std::to_string(I % 37)].push_back(std::make_unique<Derived>(I));
  long Sum = 0;
  std::function<void(const Base &)> Add = [&](const Base &B) {
    Sum += B.value();
  };
  for (auto &Entry : Map)
    for (auto &Object : Entry.second)
      Add(*Object);
  std::printf("sum %ld\n", Sum);
  std::set_terminate([] {
    std::printf("terminated\n");
    std::fflush(stdout);
    std::_Exit(9);
  });
  std::thread([]() noexcept { thrower(1); }).join();
  return 0;
}
