// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls clone3 directly, as newer C libraries do, and falls back when it is
// refused.
#define _GNU_SOURCE
#include "Check.h"
#include <errno.h>
#include <linux/sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>

int main(void) {
  struct clone_args Arguments = {.exit_signal = 17};
  long Child = syscall(SYS_clone3, &Arguments, sizeof(Arguments));
  if (Child < 0) {
    CHECK(errno == ENOSYS);
    Child = fork();
  }
  if (Child == 0)
    _exit(6);
  int Status;
  CHECK(waitpid((pid_t)Child, &Status, 0) == Child);
  printf("child exited with %d\n", WEXITSTATUS(Status));
  return 0;
}
