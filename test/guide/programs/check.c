// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks one file: every line must have a value after a colon.
#include <stdio.h>
#include <string.h>

static int value_length(const char *Line) {
  return (int)strlen(strchr(Line, ':') + 1);
}

int main(int Count, char **Arguments) {
  char Line[80];
  FILE *File = Count > 1 ? fopen(Arguments[1], "r") : 0;
  if (!File)
    return 2;
  while (fgets(Line, sizeof Line, File))
    if (value_length(Line) < 2)
      return 1;
  return 0;
}
