// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// System calls, a signal and output in pieces, for events.py.
#include <signal.h>
#include <string.h>
#include <unistd.h>

char Buffer[16];
static volatile int Handled;

static void handler(int Signal) { Handled = Signal; }

static void say(int Descriptor, const char *Text) {
  if (write(Descriptor, Text, strlen(Text)) < 0)
    _exit(1);
}

int main(void) {
  signal(SIGUSR1, handler);
  say(1, "It is split ");
  say(1, "over ");
  say(2, "on the error stream\n");
  say(1, "three.\n");
  say(1, "twice twice\n");
  if (chdir("/nonexistent") == 0)
    return 1;
  raise(SIGUSR1);
  int Pipe[2];
  if (pipe(Pipe) || write(Pipe[1], "hello", 5) != 5 ||
      read(Pipe[0], Buffer, sizeof(Buffer)) != 5)
    return 1;
  return Handled != SIGUSR1;
}
