// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Frames that are left by an exception, caught far up, one of which cleans up;
// and two threads in turn. In one piece, or (LIBRARY, PROGRAM) the thrower in a
// library that the program calls through its linkage table.
#include <stdexcept>
#include <thread>

int thrower(int N);

#ifndef PROGRAM
static int Cleaned;

struct Guard {
  ~Guard() {
    ++Cleaned; // line: cleanup
  }
};

static int guarded(int N) {
  Guard G;
  return thrower(N - 1); // line: guarded
}

int thrower(int N) {
  if (N == 2)
    return guarded(N);
  if (N == 0)
    throw std::runtime_error("deep"); // line: throw
  return thrower(N - 1) + 1;          // line: recurse
}
#endif

#ifndef LIBRARY
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
#endif
