// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ABA: a stack of free buffers without locks. Between reading the first
// buffer's successor and the swap, another thread may take both and give the
// first back.
#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>

struct Buffer {
  std::atomic<Buffer *> Next{nullptr};
  std::atomic<bool> InUse{false};
};
static Buffer Buffers[3];
static std::atomic<Buffer *> Free;

static Buffer *take() {
  Buffer *First = Free.load();
  while (First && !Free.compare_exchange_weak(First, First->Next.load()))
    ;
  if (First)
    assert(!First->InUse.exchange(true) && "two users of one buffer");
  return First;
}

static void giveBack(Buffer *B) {
  B->InUse = false;
  Buffer *First = Free.load();
  do
    B->Next = First;
  while (!Free.compare_exchange_weak(First, B));
}

static void work() {
  for (int I = 0; I < 100; ++I) {
    Buffer *A = take(), *B = take();
    if (A)
      giveBack(A);
    if (B)
      giveBack(B);
  }
}

int main() {
  for (Buffer &B : Buffers)
    giveBack(&B);
  std::thread One(work), Two(work);
  One.join();
  Two.join();
  std::puts("all buffers had one user");
}
