// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls a library that it is linked with, loads one, unloads it, loads it again
// and dies in it. The loaded one is named by the argument.
#include <dlfcn.h>
#include <stdio.h>

int twice(int);

static int call(void *Library, const char *Name, int Value) {
  int (*Function)(int) = (int (*)(int))dlsym(Library, Name);
  return Function(Value); // line: call
}

int main(int Count, char **Arguments) {
  int Value = twice(Count);
  void *Library = dlopen(Arguments[1], RTLD_NOW); // line: first
  Value += call(Library, "thrice", Value);        // line: loaded
  dlclose(Library);
  printf("%d\n", Value); // line: unloaded
  fflush(stdout);
  Library = dlopen(Arguments[1], RTLD_NOW);
  return call(Library, "crash", Value);
}
