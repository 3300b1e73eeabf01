// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gets signals at any moment: from a timer during computation, from another
// thread, from a child, and in a system call, which it interrupts.
#define _GNU_SOURCE
#include "Check.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

static volatile sig_atomic_t Ticks, Children, Pokes;

static void tick(int Number) {
  (void)Number;
  ++Ticks;
  double X = Ticks; // the handler uses vector registers of its own
  volatile double Y = X * 1.5 + 2;
  (void)Y;
}
static void child(int Number) {
  (void)Number;
  ++Children;
}
static void poke(int Number) {
  (void)Number;
  ++Pokes;
}
static void *poker(void *Argument) {
  pthread_t Main = *(pthread_t *)Argument;
  for (int I = 0; I < 20; ++I) {
    pthread_kill(Main, SIGUSR1);
    usleep(500);
  }
  return NULL;
}

int main(void) {
  signal(SIGALRM, tick);
  signal(SIGCHLD, child);
  signal(SIGUSR1, poke);
  struct itimerval Timer = {{0, 2000}, {0, 2000}};
  setitimer(ITIMER_REAL, &Timer, NULL);
  double Sum = 0;
  uint64_t Bits = 1;
  while (Ticks < 30)
    for (int I = 1; I < 1000; ++I) {
      Sum += 1.0 / I;
      Bits = Bits * 6364136223846793005u + 1;
    }
  Timer.it_value.tv_usec = Timer.it_interval.tv_usec = 0;
  setitimer(ITIMER_REAL, &Timer, NULL);
  CHECK(Sum > 1 && Bits != 1);

  pthread_t Me = pthread_self(), Poker;
  CHECK(pthread_create(&Poker, NULL, poker, &Me) == 0);
  while (!Pokes)
    ;
  pthread_join(Poker, NULL);
  CHECK(Pokes >= 1 && Pokes <= 20);

  pid_t Pid = fork();
  if (Pid == 0)
    _exit(0);
  int Status;
  while (waitpid(Pid, &Status, 0) < 0)
    CHECK(errno == EINTR);
  while (!Children)
    usleep(100);

  struct sigaction Action = {0};
  Action.sa_handler = tick; // no SA_RESTART
  sigaction(SIGALRM, &Action, NULL);
  int Pipe[2];
  char Byte;
  CHECK(pipe(Pipe) == 0);
  Timer.it_value.tv_usec = 20000;
  setitimer(ITIMER_REAL, &Timer, NULL);
  CHECK(read(Pipe[0], &Byte, 1) == -1 && errno == EINTR);
  printf("asynchronous signals done\n");
  return 0;
}
