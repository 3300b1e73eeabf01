// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Installs guard pages, which fault although their mapping is readable and
// writable. Newer C libraries put them around thread stacks. Reports if the
// kernel does not have them.
#include "Check.h"
#include <errno.h>
#include <sys/mman.h>

enum { GuardInstall = 102, GuardRemove = 103, Page = 4096, Pages = 64 };

int main(void) {
  unsigned char *P = mmap(NULL, Pages * Page, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(P != MAP_FAILED);
  memset(P, 7, Pages * Page);
  if (madvise(P + Page, (Pages - 2) * Page, GuardInstall)) {
    CHECK(errno == EINVAL);
    printf("no guard pages\n");
    return 0;
  }
  // Runs long enough for the recorder to look at each page of the program.
  volatile unsigned Sum = 0;
  for (unsigned I = 0; I < 400000; ++I)
    Sum += I;
  CHECK(!madvise(P + 2 * Page, (Pages - 4) * Page, GuardRemove));
  // The former contents are gone.
  hashBytes(P, Page);
  hashBytes(P + 2 * Page, (Pages - 4) * Page);
  printf("guard pages done %016lx\n", (unsigned long)Hash);
  return 0;
}
