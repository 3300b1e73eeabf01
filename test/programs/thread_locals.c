// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Uses thread-local variables of the executable, of libraries and of the C
// library. Each thread prints where its own are and stays to the end. The
// argument is a library that is loaded, unloaded, and loaded again.
#define _GNU_SOURCE
#include "Check.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

static __thread long Plain = 1;
__thread char Aligned[100] __attribute__((aligned(128)));
__thread int Zero;

static pthread_barrier_t Reported, Loaded;
static long *(*pluginOwn)(void), *(*pluginShared)(void);

static void report(int Thread) {
  Plain = Thread;
  Zero = -Thread;
  printf("%d Plain %p\n%d Aligned %p\n%d Zero %p\n%d errno %p\n", Thread,
         (void *)&Plain, Thread, (void *)Aligned, Thread, (void *)&Zero, Thread,
         (void *)&errno);
  if (pluginOwn)
    printf("%d PluginOwn %p\n%d PluginShared %p\n", Thread, (void *)pluginOwn(),
           Thread, (void *)pluginShared());
  fflush(stdout);
}

static void *run(void *Argument) {
  int Thread = (int)(long)Argument;
  if (Thread == 2 && pluginOwn)
    CHECK(*pluginOwn() == 5); // of the first load; it is stale after that
  pthread_barrier_wait(&Reported);
  pthread_barrier_wait(&Loaded);
  if (Thread != 4) // thread 4 uses no variable of the plugin
    report(Thread);
  pthread_barrier_wait(&Reported);
  pthread_barrier_wait(&Loaded); // never returns
  return NULL;
}

#ifndef STATIC
static void *load(const char *Path) {
  void *Handle = dlopen(Path, RTLD_NOW);
  CHECK(Handle);
  pluginOwn = (long *(*)(void))dlsym(Handle, "pluginOwn");
  pluginShared = (long *(*)(void))dlsym(Handle, "pluginShared");
  CHECK(pluginOwn && pluginShared);
  return Handle;
}
#endif

int main(int Count, char **Arguments) {
  (void)Count, (void)Arguments;
#ifndef STATIC
  CHECK(Count == 2);
  void *First = load(Arguments[1]);
#endif
  pthread_barrier_init(&Reported, NULL, 4);
  pthread_barrier_init(&Loaded, NULL, 4);
  for (long I = 2; I <= 4; ++I) {
    pthread_t Thread;
    CHECK(pthread_create(&Thread, NULL, run, (void *)I) == 0);
  }
  pthread_barrier_wait(&Reported);
#ifndef STATIC
  CHECK(dlclose(First) == 0);
  load(Arguments[1]);
#endif
  pthread_barrier_wait(&Loaded);
  pthread_barrier_wait(&Reported);
  report(1);
  _exit(0);
}
