// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dies in the way its argument says, in the middle of some work.
#define _GNU_SOURCE
#include "Check.h"
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

static volatile long Work;

static void work(void) {
  for (int I = 0; I < 100000; ++I)
    Work += I ^ Work;
}

__attribute__((noinline)) static int recurse(int Depth) {
  if (Depth < 0)
    return 0;
  volatile char Frame[4000];
  Frame[0] = (char)Depth;
  return recurse(Depth + 1) + Frame[0];
}

static void *crash(void *Argument) {
  work();
  *(volatile int *)Argument = 1;
  return NULL;
}
static void *spin(void *Argument) {
  for (;;)
    ++Work;
  return Argument;
}

int main(int Count, char **Arguments) {
  const char *How = Count > 1 ? Arguments[1] : "";
  // The tests must not leave core files.
  struct rlimit None = {0, 0};
  setrlimit(RLIMIT_CORE, &None);
  printf("about to end by %s\n", How);
  fflush(stdout);
  work();
  if (!strcmp(How, "segv"))
    *(volatile int *)8 = 1;
  else if (!strcmp(How, "execute-nothing"))
    ((void (*)(void))8)();
  else if (!strcmp(How, "abort"))
    abort();
  else if (!strcmp(How, "kill"))
    kill(getpid(), SIGKILL);
  else if (!strcmp(How, "term"))
    raise(SIGTERM);
  else if (!strcmp(How, "overflow"))
    return recurse(0);
  else if (!strcmp(How, "divide"))
    return Count / (int)(Work - Work);
  else if (!strcmp(How, "illegal"))
    __asm__ volatile("ud2");
  else if (!strcmp(How, "trap"))
    __asm__ volatile("int3");
  else if (!strcmp(How, "_exit"))
    _exit(17);
  else if (!strcmp(How, "thread")) {
    pthread_t Spinner, Crasher;
    pthread_create(&Spinner, NULL, spin, NULL);
    pthread_create(&Crasher, NULL, crash, NULL);
    pthread_join(Spinner, NULL);
  } else if (!strcmp(How, "kill-threads")) {
    pthread_t Spinner;
    pthread_create(&Spinner, NULL, spin, NULL);
    work();
    kill(getpid(), SIGKILL);
  } else if (!strcmp(How, "wait")) {
    // This is for tests that kill the program from outside.
    printf("ready\n");
    fflush(stdout);
    for (;;)
      work();
  } else
    return 2;
  work();
  return 1;
}
