// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads that come and go: a debugger that goes from one execution of a line
// to the next meets threads that it has not seen before.
#include <pthread.h>

static volatile int Sink;

__attribute__((noinline)) static int leaf(int N, int Square) {
  volatile int Local = N * 3;
  Sink = Local + Square; // line: leaf
  return Local;
}

__attribute__((noinline)) static int middle(int N) {
  volatile int Mine = N * 7;
  int Result = leaf(N, N * N);
  return Result + Mine;
}

static void *work(void *Argument) {
  long N = reinterpret_cast<long>(Argument);
  for (int I = 0; I < 3; ++I)
    Sink = middle(static_cast<int>(N) * 10 + I);
  return nullptr;
}

int main() {
  for (long I = 0; I < 20; I += 2) {
    pthread_t Threads[2];
    for (long K = 0; K < 2; ++K)
      pthread_create(&Threads[K], nullptr, work,
                     reinterpret_cast<void *>(I + K));
    for (long K = 0; K < 2; ++K)
      pthread_join(Threads[K], nullptr);
  }
  return 0;
}
