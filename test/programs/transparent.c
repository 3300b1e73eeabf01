// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints everything a program can see of how it was started, so that a run with
// and without the recorder can be compared byte for byte.
#define _GNU_SOURCE
#include "Check.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

extern char **environ;

static void descriptors(void) {
  // Listing /proc/self/fd would open one more descriptor.
  for (int Fd = 0; Fd < 1024; ++Fd) {
    int Flags = fcntl(Fd, F_GETFD);
    if (Flags >= 0)
      printf("descriptor %d: flags %d, mode %x\n", Fd, Flags,
             (unsigned)fcntl(Fd, F_GETFL));
  }
  DIR *Directory = opendir("/proc/self/fd");
  int Count = 0;
  for (struct dirent *D; (D = readdir(Directory));)
    Count += D->d_name[0] != '.' && atoi(D->d_name) < 1024;
  closedir(Directory);
  printf("%d entries in /proc/self/fd\n", Count);
}

int main(int Count, char **Arguments) {
  for (int I = 0; I < Count; ++I)
    printf("argument %d: %s\n", I, Arguments[I]);
  CHECK(Arguments[Count] == NULL);
  for (char **E = environ; *E; ++E)
    printf("environment: %s\n", *E);
  char Path[4096];
  printf("directory: %s\n", getcwd(Path, sizeof(Path)));
  ssize_t Length = readlink("/proc/self/exe", Path, sizeof(Path) - 1);
  Path[Length > 0 ? Length : 0] = 0;
  printf("executable: %s\n", Path);
  printf("program: %s, %s\n", program_invocation_name,
         (char *)getauxval(AT_EXECFN));
  printf("process group leader: %d, session leader: %d\n",
         getpgrp() == getpid(), getsid(0) == getpid());
  printf("terminals: %d %d %d\n", isatty(0), isatty(1), isatty(2));
  mode_t Mask = umask(0);
  printf("umask: %o, nice: %d\n", Mask, getpriority(PRIO_PROCESS, 0));
  sigset_t Set;
  sigprocmask(SIG_BLOCK, NULL, &Set);
  for (int I = 1; I < 32; ++I) {
    struct sigaction Action;
    sigaction(I, NULL, &Action);
    if (sigismember(&Set, I) || Action.sa_handler != SIG_DFL)
      printf("signal %d: blocked %d, ignored %d\n", I, sigismember(&Set, I),
             Action.sa_handler == SIG_IGN);
  }
  struct rlimit Limit;
  getrlimit(RLIMIT_CORE, &Limit);
  printf("core limit: %lu %lu\n", Limit.rlim_cur, Limit.rlim_max);
  getrlimit(RLIMIT_STACK, &Limit);
  printf("stack limit: %lu %lu\n", Limit.rlim_cur, Limit.rlim_max);
  char Name[17] = {0};
  prctl(PR_GET_NAME, Name);
  printf("name: %s\n", Name);
  descriptors();
  fflush(stdout);
  char Line[100];
  ssize_t Got;
  while ((Got = read(0, Line, sizeof(Line))) > 0)
    CHECK(write(2, Line, (size_t)Got) == Got);
  return 73;
}
