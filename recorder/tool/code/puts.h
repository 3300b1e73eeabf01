/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which PUTs of a superblock generated code must make. Valgrind is asked for
 * all of them (main.c), because replay programs have all of them. Generated
 * code leaves out those that nothing can observe and those that change nothing.
 *
 * A PUT is dead if the same bytes are PUT again before anything can read them:
 * a GET of them, an exit, a helper, or the handler of a fault, which sees all
 * registers and may repair the fault and go on. As long as the program has no
 * such handler (events/signals.h), a fault ends it. Then replay computes the
 * registers, for which it must know the instruction; and Valgrind decides by
 * the stack pointer whether the stack has to grow. So until there is a handler
 * only RIP and RSP are exact at a fault.
 *
 * What was computed only for dead PUTs is dropped by VEX. Loads and divisions
 * must not be dropped, because they may fault, so their values are used.
 */
#ifndef CHRONICLE_RECORDER_TOOL_CODE_PUTS_H
#define CHRONICLE_RECORDER_TOOL_CODE_PUTS_H

#include "recorder/tool/core/valgrind_core.h"

/* Makes one pass over the superblock. Statements are named by their index. */
void ch_puts_begin(IRSB *in);
/* Whether the PUT must be made, after those that were made before it. */
Bool ch_puts_needs(Int statement);
/* The PUT was made. */
void ch_puts_made(Int statement);
/* Registers have changed in some other way. */
void ch_puts_forget(void);

/* Whether the assignment may fault although nothing uses its value. */
Bool ch_puts_unused_fault(Int statement);

#endif
