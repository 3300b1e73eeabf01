// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes output with every system call there is, to both streams and to closed
// and duplicated descriptors.
#define _GNU_SOURCE
#include "Check.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/uio.h>

int main(void) {
  printf("to standard output\n");
  fflush(stdout);
  fprintf(stderr, "to standard error\n");
  struct iovec Vector[] = {{"a ", 2}, {"vector", 6}, {"\n", 1}};
  CHECK(writev(1, Vector, 3) == 9);
  int Copy = dup(1);
  CHECK(write(Copy, "to a copy\n", 10) == 10);
  close(1);
  CHECK(write(1, "nowhere", 7) == -1 && errno == EBADF);
  CHECK(dup2(Copy, 1) == 1);
  char Big[20000];
  for (size_t I = 0; I < sizeof(Big); ++I)
    Big[I] = I % 80 == 79 ? '\n' : (char)('!' + I % 90);
  CHECK(fwrite(Big, 1, sizeof(Big), stdout) == sizeof(Big));
  printf("\nno newline at the end, and a zero: %c", 0);
  fflush(stdout);
  int Pipe[2];
  CHECK(pipe(Pipe) == 0 && write(Pipe[1], "piped", 5) == 5);
  CHECK(splice(Pipe[0], NULL, 1, NULL, 5, 0) == 5 || errno == EINVAL);
  return 0;
}
