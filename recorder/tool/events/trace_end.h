/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ends the trace. */
#ifndef CHRONICLE_RECORDER_TOOL_EVENTS_TRACE_END_H
#define CHRONICLE_RECORDER_TOOL_EVENTS_TRACE_END_H

#include "recorder/tool/core/valgrind_core.h"

/* Completes the trace with how the run ended: `code` is the exit status or the
   signal, for the reasons that have one. */
void ch_log_end(enum ch_end_reason reason, UInt code);

/* Stops recording while the program goes on. */
void ch_stop_recording(enum ch_end_reason reason);
/* The same, but nothing is written: a forked child must leave the ring to its
   parent. */
void ch_abandon_recording(void);

#endif
