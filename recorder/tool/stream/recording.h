/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether and how far the recording has begun. */
#ifndef CHRONICLE_RECORDER_TOOL_STREAM_RECORDING_H
#define CHRONICLE_RECORDER_TOOL_STREAM_RECORDING_H

#include "recorder/tool/core/valgrind_core.h"

/* False in a forked child and after the recording was stopped: the program goes
   on and nothing is written. */
extern Bool ch_recording;
/* The program has begun to run. Before that only definitions are written. */
extern Bool ch_started;

/* Prints why the program cannot be recorded and exits with status 125. To be
   used before the program has started. */
__attribute__((noreturn)) void ch_give_up(const HChar *why);

#endif
