// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A session is used after it was closed, when its memory belongs to another.
#include <cstdlib>
struct Session {
  long Number;
  Session *Peer;
};
static Session *open(long Number) { return new Session{Number, nullptr}; }
static void close(Session *S) { delete S; }
int main() {
  Session *A = open(1), *B = open(2);
  A->Peer = B;
  close(B);
  Session *C = open(3);
  if (A->Peer->Number != 2)
    abort(); // this is not my peer
  return C != nullptr;
}
