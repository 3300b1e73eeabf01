/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happens where stretches of client code begin and end. Between them
 * Valgrind's core changes registers (system call results, signal delivery,
 * sigreturn, arch_prctl), mostly without reporting it. So a thread's registers
 * are kept when it stops and compared when it goes on.
 */
#ifndef CHRONICLE_RECORDER_TOOL_EVENTS_CLIENT_CODE_H
#define CHRONICLE_RECORDER_TOOL_EVENTS_CLIENT_CODE_H

#include "recorder/tool/core/valgrind_core.h"

void ch_client_code_init(void);

/* Generated code calls this at the entry of a superblock when the block's
   budget is used up, with the guest state where rbp points. All registers must
   be in the guest state, and the cursor behind it. */
void ch_block_full_called(void);

/* In a forked child: no thread has gone on yet. */
void ch_client_code_in_child(void);

/* The running thread faulted, so its state now counts as its state at the stop.
   `exact`: all registers are exact. */
void ch_client_code_faulted(ThreadId tid, Bool exact);

#endif
