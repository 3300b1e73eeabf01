// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a program sees of its parent, its process group and its terminal. Each
// mode prints "ready" once it is prepared. stage.py runs it.
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier): the C library asks
                    // for it.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 65
static volatile sig_atomic_t Count[MOST], Value[MOST];
static volatile long Work;

static void caught(int Number, siginfo_t *Info, void *Context) {
  (void)Context;
  ++Count[Number];
  if (Info->si_code == SI_QUEUE)
    Value[Number] = Info->si_value.sival_int;
}

static void catch(int Number) {
  struct sigaction Action = {0};
  Action.sa_sigaction = caught;
  Action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigfillset(&Action.sa_mask);
  sigaction(Number, &Action, 0);
}

static void say(const char *Text) {
  puts(Text);
  fflush(stdout);
}

// Long enough for a signal that comes a second time to be noticed.
static void settle(void) { usleep(300000); }

static void await(int Number) {
  while (!Count[Number])
    usleep(1000);
}

static void printCount(int Number) {
  printf("signal %d: %d\n", Number, (int)Count[Number]);
}

// Signals that a program may catch, also under Valgrind 3.19, which needs the
// last one and fails when SIGSYS is sent. The C library keeps two for itself.
static int mayCatch(int Number) {
  return Number != SIGKILL && Number != SIGSTOP && Number != SIGSYS &&
         Number != 32 && Number != 33 && Number < 64;
}

static void toGroup(void) {
  for (int N = 1; N < MOST; ++N)
    if (mayCatch(N))
      catch(N);
  say("ready");
  for (int N = 1; N < MOST; ++N)
    if (mayCatch(N)) {
      kill(0, N);
      await(N);
    }
  settle();
  for (int N = 1; N < MOST; ++N)
    if (mayCatch(N))
      printCount(N);
}

static void fromOutside(void) {
  catch(SIGUSR1);
  catch(SIGTERM);
  catch(SIGABRT);
  catch(SIGRTMIN + 3);
  say("ready");
  await(SIGUSR1);
  await(SIGTERM);
  await(SIGABRT);
  await(SIGRTMIN + 3);
  settle();
  printCount(SIGUSR1);
  printCount(SIGTERM);
  printCount(SIGABRT);
  printCount(SIGRTMIN + 3);
  printf("value %d\n", (int)Value[SIGRTMIN + 3]);
}

static void parent(void) {
  int Signal = -1;
  pid_t Expected = atoi(getenv("STAGE"));
  printf("parent %s\n", getppid() == Expected ? "is the stage" : "is another");
  prctl(PR_GET_PDEATHSIG, &Signal);
  printf("parent-death signal %d\n", Signal);
  prctl(PR_SET_PDEATHSIG, SIGUSR2);
  prctl(PR_GET_PDEATHSIG, &Signal);
  printf("parent-death signal %d\n", Signal);
  printf("alarm %s\n", alarm(0) > 0 ? "is set" : "is not set");
  kill(getppid(), SIGUSR1);
  fflush(stdout);
  pid_t Child = fork();
  if (Child == 0) {
    // The child's parent is the program, and it leads no group.
    printf("child: parent %s\n",
           getppid() == Expected ? "is the stage" : "is another");
    printf("child: setsid %s\n", setsid() > 0 ? "succeeds" : strerror(errno));
    fflush(stdout);
    _exit(0);
  }
  waitpid(Child, 0, 0);
  printf("setsid %s\n", setsid() == getpid() ? "succeeds" : strerror(errno));
  say("ready");
}

static void orphan(void) {
  pid_t Before = getppid();
  catch(SIGUSR1);
  prctl(PR_SET_PDEATHSIG, SIGUSR1);
  say("ready");
  await(SIGUSR1);
  settle();
  printCount(SIGUSR1);
  printf("parent %s\n", getppid() == Before ? "is the same" : "is another");
}

// Each of these signals stops the program. The stage continues it.
static void stops(void) {
  catch(SIGCONT);
  say("ready");
  int Signals[] = {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};
  for (int I = 0; I < 4; ++I) {
    kill(getpid(), Signals[I]);
    await(SIGCONT);
    printCount(SIGCONT);
    fflush(stdout);
    Count[SIGCONT] = 0;
  }
  // A handler, and the default action again.
  catch(SIGTSTP);
  kill(getpid(), SIGTSTP);
  await(SIGTSTP);
  printCount(SIGTSTP);
  signal(SIGTSTP, SIG_DFL);
  kill(0, SIGTSTP);
  await(SIGCONT);
  printCount(SIGCONT);
}

static char stateOf(pid_t Process) {
  char Path[64], Name[64], State = '?';
  snprintf(Path, sizeof Path, "/proc/%d/stat", Process);
  FILE *File = fopen(Path, "r");
  if (File) {
    if (fscanf(File, "%*d (%63[^)]) %c", Name, &State) != 2)
      State = '?';
    fclose(File);
  }
  return State;
}

// The program's own child continues it; the stage does nothing.
static void continuedByChild(void) {
  say("ready");
  pid_t Program = getpid();
  pid_t Child = fork();
  if (Child == 0) {
    while (stateOf(Program) != 'T')
      usleep(1000);
    usleep(100000);
    kill(Program, SIGCONT);
    _exit(0);
  }
  raise(SIGSTOP);
  waitpid(Child, 0, 0);
  say("went on");
}

static void keys(void) {
  catch(SIGINT);
  catch(SIGQUIT);
  catch(SIGTSTP);
  say("ready");
  await(SIGINT);
  await(SIGQUIT);
  await(SIGTSTP);
  settle();
  printCount(SIGINT);
  printCount(SIGQUIT);
  printCount(SIGTSTP);
}

static void suspended(int Busy) {
  catch(SIGCONT);
  say("ready");
  while (!Count[SIGCONT])
    if (Busy)
      ++Work;
    else
      usleep(1000);
  settle();
  printCount(SIGCONT);
}

int main(int Arguments, char **Argument) {
  const char *Mode = Arguments > 1 ? Argument[1] : "";
  if (!strcmp(Mode, "to-group"))
    toGroup();
  else if (!strcmp(Mode, "from-outside"))
    fromOutside();
  else if (!strcmp(Mode, "parent"))
    parent();
  else if (!strcmp(Mode, "orphan"))
    orphan();
  else if (!strcmp(Mode, "stops"))
    stops();
  else if (!strcmp(Mode, "continued-by-child"))
    continuedByChild();
  else if (!strcmp(Mode, "keys"))
    keys();
  else if (!strcmp(Mode, "suspended"))
    suspended(0);
  else if (!strcmp(Mode, "suspended-busy"))
    suspended(1);
  else
    return 99;
  return 7;
}
