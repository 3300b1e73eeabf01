// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks files, each in a process of its own.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int Count, char **Files) {
  int Failed = 0;
  for (int I = 1; I < Count; ++I) {
    pid_t Child = fork();
    if (Child == 0) {
      execlp("./check", "check", Files[I], (char *)0);
      _exit(127);
    }
    int Status;
    waitpid(Child, &Status, 0);
    Failed += Status != 0;
  }
  printf("%d of %d files failed\n", Failed, Count - 1);
  return Failed != 0;
}
