// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A library to preload into stress-ng. Only the process that is recorded is in
// the trace, but stress-ng forks a process for its work. At the call sites that
// ONE_PROCESS lists, the first fork() returns 0 in the process itself, which
// then does the work of its child. Without ONE_PROCESS, the call sites are
// printed.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int firstModule(struct dl_phdr_info *Info, size_t Size, void *Base) {
  (void)Size;
  *(unsigned long *)Base = Info->dlpi_addr;
  return 1;
}

static bool isInlined(unsigned long Site) {
  static bool Done[8];
  const char *At = getenv("ONE_PROCESS");
  if (!At) {
    fprintf(stderr, "fork at %lx\n", Site);
    return false;
  }
  for (int I = 0; *At && I < 8; ++I) {
    char *End;
    if (strtoul(At, &End, 16) == Site && !Done[I])
      return Done[I] = true;
    At = *End == ',' ? End + 1 : End;
  }
  return false;
}

pid_t fork(void) {
  static pid_t (*Real)(void);
  unsigned long Base = 0;
  dl_iterate_phdr(firstModule, &Base);
  const unsigned long Caller = (unsigned long)__builtin_return_address(0);
  if (!strcmp(program_invocation_short_name, "stress-ng") &&
      isInlined(Caller - Base))
    return 0;
  if (!Real)
    Real = (pid_t (*)(void))dlsym(RTLD_NEXT, "fork");
  return Real();
}
