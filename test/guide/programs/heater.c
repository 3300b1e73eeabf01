// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Turns a heater off when the room is warm enough: too early.
#include <stdio.h>

static const int Readings[] = {172, 181, 188, 194, 320, 199, 203, 211};
static int Target = 210, Hours;

static void turnOff(void) { printf("off after %d hours\n", Hours); }

static int control(int Degrees) {
  if (Degrees <= Target || Hours < 3)
    return 0;
  turnOff();
  return 1;
}

int main(void) {
  for (int I = 0; I < 8; ++I) {
    if (control(Readings[I]))
      break;
    ++Hours;
  }
  return 0;
}
