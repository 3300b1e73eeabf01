// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The library that load.c loads.
#include <stdio.h>
#include <stdlib.h>

static int Calls;
__thread int PluginLocal = 5;

__attribute__((constructor)) static void loaded(void) { puts("plugin loaded"); }
__attribute__((destructor)) static void unloaded(void) {
  puts("plugin unloaded");
}

int pluginCall(int Value) {
  PluginLocal += Value;
  char *Text = malloc(100);
  int Length = snprintf(Text, 100, "%d", Value);
  free(Text);
  return Length + ++Calls + PluginLocal;
}
