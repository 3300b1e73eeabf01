/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program's place among the processes. Its parent is `chronicle record`,
 * which stands where the program would be without Chronicle: it has the number
 * that the program's parent knows, and may lead the process group. This module
 * wraps the system calls that would show the difference; docs/recorder.md lists
 * them.
 */
#ifndef CHRONICLE_RECORDER_TOOL_EVENTS_PARENTAGE_H
#define CHRONICLE_RECORDER_TOOL_EVENTS_PARENTAGE_H

/* To be called before the program's first instruction. */
void ch_parentage_init(void);

#endif
