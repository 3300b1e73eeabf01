/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program should see what it would see without the recorder. */
#ifndef CHRONICLE_RECORDER_TOOL_EVENTS_STARTUP_H
#define CHRONICLE_RECORDER_TOOL_EVENTS_STARTUP_H

#include "recorder/tool/core/valgrind_core.h"

/* Hides Valgrind from the name of the process and from its environment, and
   prepares what the program sees of its parent and of job control. To be called
   before the program's first instruction. */
void ch_hide_valgrind(ThreadId tid);

/* Where the program has its auxiliary vector. */
extern Addr ch_auxiliary_vector;

#endif
