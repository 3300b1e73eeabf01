// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What SymbolsTest looks up. It loads the library, so that the dynamic linker's
// word and the compiler's __LINE__ are the truth that the answers are held to.

extern "C" {
unsigned area_line, inlined_line, outer_line;
extern char inlined_here[];
}

long counter = 3;
thread_local int per_thread = 1;

namespace shapes {
int totals[4] = {1, 2, 3, 4};

struct Circle {
  int area(int Radius);
};
int Circle::area(int Radius) {
  area_line = __LINE__ - 1;
  return 3 * Radius * Radius + per_thread;
}

template <class T> T twice(T X) { return X + X; }
template int twice<int>(int);
template long twice<long>(long);

int overloaded(int X) { return X + 1; }
int overloaded(double X) { return static_cast<int>(X) + 2; }
} // namespace shapes

__attribute__((always_inline)) static inline int inlined(int X) {
  inlined_line = __LINE__ + 1;
  asm volatile(".globl inlined_here\ninlined_here: nop" : "+r"(X));
  return X + 1;
}

extern "C" {
__attribute__((noinline)) int outer(int X) {
  outer_line = __LINE__ + 1;
  return inlined(X) + 5;
}

static __attribute__((noinline)) int hidden(int X) {
  asm volatile("" : "+r"(X));
  return X * 7;
}
void *address_of_hidden() { return reinterpret_cast<void *>(hidden); }

int use_everything(int X) {
  shapes::Circle C;
  return C.area(X) + shapes::twice(X) + shapes::overloaded(X) +
         shapes::overloaded(1.0 * X) + outer(X) + hidden(X) +
         static_cast<int>(counter) + shapes::totals[X & 3];
}
}
