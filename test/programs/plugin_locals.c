// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library with thread-local variables, one of which another module could
// replace.
static __thread long PluginOwn = 5;
__thread long PluginShared = 6;
long *pluginOwn(void) { return &PluginOwn; }
long *pluginShared(void) { return &PluginShared; }
