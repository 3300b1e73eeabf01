// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Says where its own things are, for symbols.py.
#include <stdio.h>
#include <string.h>

long Counter;
static long VisitLine, StoreLine;

__attribute__((noinline)) long visit(long N, long *Where) {
  VisitLine = __LINE__ - 1;
  StoreLine = __LINE__ + 1;
  ++*Where;
  return N * N;
}

__attribute__((noinline, optimize("O2"))) long finish(long N) {
  __asm__ volatile("" : "+r"(N));
  return N + 1;
}
__attribute__((noinline, optimize("O2"))) long tail(long N) {
  return finish(N + 7);
}

int main(int argc, char **argv) {
  size_t (*volatile Length)(const char *) = strlen;
  long Visits = 0, Strlens = 0, Total = 0;
  for (; Visits < 20; ++Visits)
    Total += visit(Visits, &Counter);
  for (; Strlens < 7; ++Strlens)
    Total += Length(argv[0]);
  printf("Counter %p\nCounterSize %zu\nvisit %p\n", (void *)&Counter,
         sizeof(Counter), (void *)visit);
  printf("VisitLine %ld\nStoreLine %ld\nVisits %ld\nStrlens %ld\n", VisitLine,
         StoreLine, Visits, Strlens);
  puts("Puts 1");
  Total += tail(70);
  return Total == 0;
}
