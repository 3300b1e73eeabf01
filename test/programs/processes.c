// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Starts children of every kind, which are not recorded: by fork, vfork, exec,
// posix_spawn, system and popen; a grandchild, a child that crashes, one that
// the parent never waits for, and one of a thread other than the first.
#define _GNU_SOURCE
#include "Check.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char **environ;
static volatile int Mine = 1;

static int statusOf(pid_t Child) {
  int Status;
  CHECK(Child > 0);
  while (waitpid(Child, &Status, 0) < 0)
    CHECK(errno == EINTR);
  return Status;
}

static void *forkInThread(void *Argument) {
  pid_t Child = fork();
  if (Child == 0) {
    Mine = 99;
    _exit(Mine == 99 ? 12 : 1);
  }
  CHECK(WEXITSTATUS(statusOf(Child)) == 12 && Mine == 1);
  return Argument;
}

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  // The work of a child must not show in the parent's memory.
  pid_t Child = fork();
  if (Child == 0) {
    for (int I = 0; I < 100000; ++I)
      Mine = Mine * 5 + 1;
    printf("child writes\n");
    pid_t Grandchild = fork();
    if (Grandchild == 0) {
      printf("grandchild writes\n");
      _exit(3);
    }
    _exit(WEXITSTATUS(statusOf(Grandchild)) + 1);
  }
  CHECK(WEXITSTATUS(statusOf(Child)) == 4 && Mine == 1);

  Child = vfork();
  if (Child == 0) {
    execl("/bin/echo", "echo", "vfork and exec", (char *)NULL);
    _exit(127);
  }
  CHECK(statusOf(Child) == 0);
  Child = vfork();
  if (Child == 0)
    _exit(21);
  CHECK(WEXITSTATUS(statusOf(Child)) == 21);

  char *Arguments[] = {"sh", "-c", "echo spawned; exit 9", NULL};
  CHECK(posix_spawn(&Child, "/bin/sh", NULL, NULL, Arguments, environ) == 0);
  CHECK(WEXITSTATUS(statusOf(Child)) == 9);
  // Valgrind forks where posix_spawn shares memory, so that its child cannot
  // report a failed exec: there the call succeeds and the child exits with 127.
  if (posix_spawn(&Child, "/nonexistent", NULL, NULL, Arguments, environ) == 0)
    CHECK(WEXITSTATUS(statusOf(Child)) == 127);

  CHECK(WEXITSTATUS(system("echo system; exit 2")) == 2);
  FILE *Pipe = popen("echo from popen; cat /dev/null", "r");
  char Line[100];
  CHECK(Pipe && fgets(Line, sizeof(Line), Pipe) &&
        !strcmp(Line, "from popen\n"));
  CHECK(pclose(Pipe) == 0);

  Child = fork();
  if (Child == 0) {
    struct rlimit None = {0, 0};
    setrlimit(RLIMIT_CORE, &None);
    *(volatile int *)16 = 1;
  }
  int Status = statusOf(Child);
  CHECK(WIFSIGNALED(Status) && WTERMSIG(Status) == SIGSEGV);

  Child = fork();
  if (Child == 0)
    for (;;)
      pause();
  CHECK(kill(Child, SIGTERM) == 0);
  Status = statusOf(Child);
  CHECK(WIFSIGNALED(Status) && WTERMSIG(Status) == SIGTERM);

  pthread_t Thread;
  CHECK(pthread_create(&Thread, NULL, forkInThread, NULL) == 0);
  pthread_join(Thread, NULL);
  // A failed exec changes nothing.
  CHECK(execl("/nonexistent/program", "x", (char *)NULL) == -1 &&
        errno == ENOENT);
  printf("processes done\n");
  return 0;
}
