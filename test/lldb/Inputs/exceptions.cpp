// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Frames that are left by an exception, caught far up; and two threads in turn.
#include <stdexcept>
#include <thread>

static int thrower(int N) {
  if (N == 0)
    throw std::runtime_error("deep"); // line: throw
  return thrower(N - 1) + 1;          // line: recurse
}

static int caught(int N) {
  int Result = 0; // line: begin
  try {
    Result = thrower(N); // line: try
  } catch (const std::exception &E) {
    Result = E.what()[0]; // line: catch
  }
  return Result; // line: after
}

static void other(int &Value) {
  Value += 1; // line: other
}

int main() {
  int Value = caught(3); // line: call
  std::thread Thread(other, std::ref(Value));
  Thread.join();       // line: join
  return Value != 'e'; // line: end
}
