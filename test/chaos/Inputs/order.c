// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Order violation: the reader is told that the settings are there before they
// are.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

struct Settings {
  int Level;
};
static struct Settings Default;
static struct Settings *Shared;
static volatile int Ready;

static void *load(void *Unused) {
  Ready = 1;
  Default.Level = 3;
  Shared = &Default;
  return NULL;
}

int main(void) {
  pthread_t Loader;
  pthread_create(&Loader, NULL, load, NULL);
  while (!Ready)
    sched_yield();
  printf("level %d\n", Shared->Level);
  pthread_join(Loader, NULL);
  return 0;
}
