// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs rep-prefixed instructions of every width: forward, backward, with count
// zero, overlapping, and ended early by a difference. (Valgrind 3.19 does not
// support repne cmps, rep lods or cmps without a prefix.)
#include "Check.h"

static unsigned char A[4096], B[4096];

#define REP(Insn, Destination, Source, Count)                                  \
  {                                                                            \
    void *Di = (Destination), *Si = (void *)(Source);                          \
    uint64_t Cx = (Count);                                                     \
    __asm__ volatile(Insn                                                      \
                     : "+D"(Di), "+S"(Si), "+c"(Cx)                            \
                     : "a"(0x4142434445464748)                                 \
                     : "memory", "cc");                                        \
    hashWord(                                                                  \
        (uint64_t)((unsigned char *)Di - (unsigned char *)(Destination)));     \
    hashWord((uint64_t)((unsigned char *)Si - (unsigned char *)(Source)));     \
    hashWord(Cx);                                                              \
  }

int main(void) {
  for (int I = 0; I < 4096; ++I)
    A[I] = (unsigned char)nextRandom();
  static const int Counts[] = {0, 1, 2, 3, 7, 8, 63, 64, 255};
  for (unsigned I = 0; I < sizeof(Counts) / sizeof(*Counts); ++I) {
    uint64_t N = (uint64_t)Counts[I];
    REP("rep movsb", B + 1, A + 3, N)
    REP("rep movsw", B + 5, A + 2, N)
    REP("rep movsl", B + 64, A, N)
    REP("rep movsq", B + 128, A + 11, N)
    REP("rep stosb", B + 7, A, N)
    REP("rep stosw", B + 9, A, N)
    REP("rep stosl", B + 13, A, N)
    REP("rep stosq", B + 17, A, N)
    REP("std\n\trep movsb\n\tcld", B + 3000, A + 3500, N)
    REP("std\n\trep movsq\n\tcld", B + 4000, A + 3000, N)
    REP("std\n\trep stosl\n\tcld", B + 4000, A + 3000, N)
    REP("rep movsb", A + 1000, A + 996, N)
    REP("repe cmpsb", A, B, N)
    REP("repe cmpsw", A, A, N)
    REP("repe cmpsq", A, A, N)
    REP("std\n\trepe cmpsb\n\tcld", A + 4000, A + 4000, N)
    REP("repne scasb", B, B, N)
    REP("repe scasl", B, B, N)
    REP("std\n\trepne scasw\n\tcld", B + 3000, B, N)
    REP("lodsb\n\tlodsw\n\tlodsl\n\tlodsq", B, A, N)
    REP("movsb\n\tmovsq\n\tstosb\n\tscasb", B + 100, A + 100, N)
    hashBytes(A, sizeof(A)), hashBytes(B, sizeof(B));
  }
  // 32-bit addresses and counts wrap differently.
  uint32_t Cx = 5;
  __asm__ volatile("1: loop 1b" : "+c"(Cx));
  CHECK(Cx == 0);
  uint64_t Taken = 0, Zero = 0;
  __asm__ volatile("jrcxz 1f\n\tincq %0\n1:" : "+r"(Taken) : "c"(Zero));
  CHECK(Taken == 0);
  uint64_t Frame;
  __asm__ volatile("pushq %%rbp\n\tenter $32, $0\n\tleave\n\tpopq %0"
                   : "=r"(Frame)
                   :
                   : "memory");
  printf("strings %016lx\n", Hash);
  return 0;
}
