/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/events/stop_signals.h"

/* The handlers that Valgrind has installed for them, if the kernel has the
   default action instead. */
static vki_sigaction_toK_t valgrinds[VKI_SIGTTOU + 1];

static Bool is_stop_signal(Int number) {
  return number == VKI_SIGTSTP || number == VKI_SIGTTIN ||
         number == VKI_SIGTTOU;
}

/* What the program asked for. */
static void *programs_handler(Int number) {
  vki_sigaction_fromK_t now;
  if (sr_isError(VG_(do_sys_sigaction)(number, NULL, &now)))
    return VKI_SIG_IGN;
  return now.ksa_handler;
}

static void kernel_action(Int number, const vki_sigaction_toK_t *action,
                          vki_sigaction_toK_t *before) {
  VG_(do_syscall)(__NR_rt_sigaction, number, (UWord)action, (UWord)before,
                  sizeof action->sa_mask, 0, 0, 0, 0);
}

void ch_stop_signals_action_changes(Int number) {
  vki_sigaction_toK_t now;
  if (!is_stop_signal(number))
    return;
  kernel_action(number, NULL, &now);
  if (now.ksa_handler == VKI_SIG_DFL && valgrinds[number].ksa_handler)
    kernel_action(number, &valgrinds[number], NULL);
}

/* Valgrind has the same handler of its own where the program has one and where
   the program has the default action. It installs that handler when the program
   stops ignoring the signal, and not again. */
void ch_stop_signals_action_changed(Int number) {
  if (!is_stop_signal(number))
    return;
  vki_sigaction_toK_t now, none;
  VG_(memset)(&none, 0, sizeof none);
  kernel_action(number, NULL, &now);
  void *wanted = programs_handler(number);
  if (wanted == VKI_SIG_DFL && now.ksa_handler != VKI_SIG_DFL) {
    valgrinds[number] = now;
    kernel_action(number, &none, NULL);
  } else if (wanted != VKI_SIG_DFL && now.ksa_handler == VKI_SIG_DFL)
    kernel_action(number, &valgrinds[number], NULL);
}

void ch_stop_signals_init(void) {
  ch_stop_signals_action_changed(VKI_SIGTSTP);
  ch_stop_signals_action_changed(VKI_SIGTTIN);
  ch_stop_signals_action_changed(VKI_SIGTTOU);
}

Bool ch_stop_signals_stop(Int number) {
  if (!is_stop_signal(number) || programs_handler(number) != VKI_SIG_DFL)
    return False;
  /* Valgrind took the signal from the kernel while it was blocked. It is sent
     once more and let through, so that the kernel decides: it does not stop a
     process whose group is orphaned. */
  vki_sigset_t only, before;
  VG_(sigemptyset)(&only);
  VG_(sigaddset)(&only, number);
  VG_(do_syscall)(__NR_kill, VG_(getpid)(), number, 0, 0, 0, 0, 0, 0);
  VG_(do_syscall)(__NR_rt_sigprocmask, VKI_SIG_UNBLOCK, (UWord)&only,
                  (UWord)&before, sizeof only, 0, 0, 0, 0);
  VG_(do_syscall)(__NR_rt_sigprocmask, VKI_SIG_SETMASK, (UWord)&before, 0,
                  sizeof before, 0, 0, 0, 0);
  return True;
}
