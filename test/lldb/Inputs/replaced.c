// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads and unloads two libraries, one after the other: the second takes the
// place of the first. Built with -DLIBRARY=first, it is such a library.
#ifdef LIBRARY
int LIBRARY(int Value) {
  static int Calls;
  ++Calls;
  return Value + Calls; // line: library
}
#else
#include <dlfcn.h>
#include <stdio.h>

static int use(const char *Path, const char *Name, int Value) {
  void *Library = dlopen(Path, RTLD_NOW);
  int (*Function)(int) = (int (*)(int))dlsym(Library, Name);
  printf("%s %lx\n", Name, (long)Function & 0xfff);
  Value = Function(Value); // line: used
  dlclose(Library);
  return Value;
}

int main(int Count, char **Arguments) {
  int Value = use(Arguments[1], "first", 10);
  Value = use(Arguments[2], "second", Value);
  printf("%d\n", Value); // line: end
  return 0;
}
#endif
