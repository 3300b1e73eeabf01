/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals, faults, and growth of the main stack. Valgrind's tool interface
 * reports neither fatal signals nor where a fault happened, so this module
 * wraps functions of the core; docs/recorder.md lists them.
 */
#ifndef CHRONICLE_RECORDER_TOOL_EVENTS_SIGNALS_H
#define CHRONICLE_RECORDER_TOOL_EVENTS_SIGNALS_H

#include "recorder/tool/core/valgrind_core.h"

void ch_signals_init(void);
/* The program has, or had, a handler of a fault, which sees the registers at
   the instruction that faulted. */
extern Bool ch_faults_handled;
/* The program changed what a signal does. */
void ch_signals_action_changed(Int number);
/* The signal that is ending the program, or 0. */
extern Int ch_fatal_signal;

#endif
