// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads and unloads a plugin several times with dlopen and dlclose, also in a
// thread, and tries to load a library that does not exist. The first argument
// is the plugin.
#define _GNU_SOURCE
#include "Check.h"
#include <dlfcn.h>
#include <pthread.h>

static const char *Path;

static void *use(void *Argument) {
  void *Handle = dlopen(Path, RTLD_NOW);
  CHECK(Handle);
  int (*Call)(int) = (int (*)(int))dlsym(Handle, "pluginCall");
  CHECK(Call && !dlsym(Handle, "noSuchThing"));
  printf("%d %d\n", Call(10), Call(2000));
  CHECK(dlclose(Handle) == 0);
  return Argument;
}

int main(int Count, char **Arguments) {
  CHECK(Count == 2);
  Path = Arguments[1];
  CHECK(!dlopen("/nonexistent/library.so", RTLD_NOW) && dlerror());
  for (int I = 0; I < 3; ++I)
    use(NULL);
  pthread_t Thread;
  CHECK(pthread_create(&Thread, NULL, use, NULL) == 0);
  pthread_join(Thread, NULL);
  void *Libm = dlopen("libm.so.6", RTLD_LAZY);
  double (*Cosine)(double) = (double (*)(double))dlsym(Libm, "cos");
  printf("%g\n", Cosine(0));
  return 0;
}
