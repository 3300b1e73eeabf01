/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SIGTSTP, SIGTTIN and SIGTTOU, which stop a process by default. Valgrind
 * catches them and then does nothing, so the recorder leaves their default
 * action to the kernel.
 */
#ifndef CHRONICLE_RECORDER_TOOL_EVENTS_STOP_SIGNALS_H
#define CHRONICLE_RECORDER_TOOL_EVENTS_STOP_SIGNALS_H

#include "recorder/tool/core/valgrind_core.h"

/* To be called before the program's first instruction. */
void ch_stop_signals_init(void);
/* The program is about to change what a signal does. Valgrind's handler must be
   installed then, because Valgrind checks that it is. If the signal arrives
   meanwhile, ch_stop_signals_stop() sees it. */
void ch_stop_signals_action_changes(Int number);
/* The program changed what a signal does, or failed to. */
void ch_stop_signals_action_changed(Int number);
/* If Valgrind is about to do nothing where the signal would stop the program:
   lets it stop the program, and returns True once the program goes on. */
Bool ch_stop_signals_stop(Int number);

#endif
