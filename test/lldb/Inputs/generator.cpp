// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A C++20 coroutine: it is suspended and resumed, and its frame is on the heap.
#include <coroutine>
#include <cstdio>

struct Squares {
  struct promise_type {
    int Value = 0;
    Squares get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int New) {
      Value = New;
      return {};
    }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> Handle;
};

static int square(int N) {
  int Result = N * N;
  return Result; // line: square
}

static Squares squares(int Count) {
  for (int N = 1; N <= Count; ++N) {
    int Each = square(N);
    co_yield Each;
  }
}

int main() {
  Squares S = squares(3); // line: start
  int Sum = 0;
  for (S.Handle.resume(); !S.Handle.done(); S.Handle.resume())
    Sum += S.Handle.promise().Value;
  S.Handle.destroy();
  std::printf("%d\n", Sum); // line: end
  return Sum != 14;
}
