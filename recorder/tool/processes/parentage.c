/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/processes/parentage.h"

Bool ch_started_as_program = True;
static Int program, launcher;

void ch_parentage_init(void) {
  program = VG_(getpid)();
  launcher = VG_(getppid)();
}

/* The place of any other process among the processes is the real one. */
Bool ch_is_program(void) {
  return ch_started_as_program && VG_(getpid)() == program &&
         VG_(getppid)() == launcher;
}

/* The parent of the launcher, or -1. It changes when that parent ends. */
static Int launchers_parent(void) {
  HChar path[32], text[256];
  VG_(sprintf)(path, "/proc/%d/stat", launcher);
  SysRes opened = VG_(open)(path, VKI_O_RDONLY, 0);
  if (sr_isError(opened))
    return -1;
  Int size = VG_(read)(sr_Res(opened), text, sizeof text - 1);
  VG_(close)(sr_Res(opened));
  text[size > 0 ? size : 0] = 0;
  /* "number (name) state parent ...", and the name may have parentheses. */
  const HChar *name_end = VG_(strrchr)(text, ')');
  if (!name_end || VG_(strlen)(name_end) < 5)
    return -1;
  return VG_(strtoll10)(name_end + 4, NULL);
}

CH_BEFORE_CALL(generic_sys_getppid) {
  CH_REAL_CALL(generic_sys_getppid);
  Int parent = ch_is_program() ? launchers_parent() : -1;
  if (parent < 0)
    return;
  status->what = CH_STATUS_COMPLETE;
  status->result._isError = False;
  status->result._val = parent;
}

/* Fails in the leader of a process group. The launcher leads the group if the
   program would. */
CH_BEFORE_CALL(generic_sys_setsid) {
  CH_REAL_CALL(generic_sys_setsid);
  if (!ch_is_program() ||
      sr_Res(VG_(do_syscall)(__NR_getpgid, 0, 0, 0, 0, 0, 0, 0, 0)) != launcher)
    return;
  status->what = CH_STATUS_COMPLETE;
  status->result._isError = True;
  status->result._val = VKI_EPERM;
}
