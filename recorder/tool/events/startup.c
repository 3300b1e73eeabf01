/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/events/startup.h"
#include "recorder/tool/events/stop_signals.h"
#include "recorder/tool/processes/exec.h"
#include "recorder/tool/processes/parentage.h"

static const HChar preload[] = "LD_PRELOAD=";
static const HChar library[] = "/vgpreload_core-amd64-linux.so";

#define PR_SET_NAME 15

Addr ch_auxiliary_vector;

/* The kernel named the process after the tool. */
static void restore_name(void) {
  const HChar *path = ch_exec_path();
  const HChar *name = VG_(strrchr)(path, '/');
  name = name ? name + 1 : path;
  VG_(do_syscall)(__NR_prctl, PR_SET_NAME, (UWord)name, 0, 0, 0, 0, 0, 0);
}

/* Valgrind puts its own library first into LD_PRELOAD. The recorder does not
   need that library, so the entry is removed from the initial stack:

     sp: argc, argv[argc], 0, envp[], 0, auxv pairs ... AT_NULL */
static void restore_environment(ThreadId tid) {
  UWord *p = (UWord *)VG_(get_SP)(tid);
  p += 1 + *p + 1;
  for (; *p; p++) {
    HChar *value = (HChar *)*p;
    if (VG_(strncmp)(value, preload, sizeof preload - 1) != 0)
      continue;
    value += sizeof preload - 1;
    HChar *end = VG_(strstr)(value, library);
    if (!end)
      return;
    end += sizeof library - 1;
    if (*end == ':') {
      /* The entries of the user follow. */
      VG_(memmove)(value, end + 1, VG_(strlen)(end + 1) + 1);
      return;
    }
    /* The user had no LD_PRELOAD: remove the variable by moving the rest, up to
       the end of the auxiliary vector. */
    UWord *last = p;
    while (*last)
      last++;
    last++;
    while (last[0])
      last += 2;
    last += 2;
    for (; p + 1 < last; p++)
      p[0] = p[1];
    *p = 0;
    return;
  }
}

static Addr find_auxiliary_vector(ThreadId tid) {
  const UWord *p = (const UWord *)VG_(get_SP)(tid);
  p += 1 + *p + 1;
  while (*p)
    p++;
  return (Addr)(p + 1);
}

void ch_hide_valgrind(ThreadId tid) {
  restore_name();
  ch_exec_restore_first_argument(tid);
  ch_exec_restore_command_line(tid);
  restore_environment(tid);
  ch_auxiliary_vector = find_auxiliary_vector(tid);
  ch_parentage_init();
  ch_stop_signals_init();
}
