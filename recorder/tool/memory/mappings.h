/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes of the memory map. The contents of a mapped file are logged whole
 * when it is mapped, so that a trace needs no other file.
 */
#ifndef CHRONICLE_RECORDER_TOOL_MEMORY_MAPPINGS_H
#define CHRONICLE_RECORDER_TOOL_MEMORY_MAPPINGS_H

#include "recorder/tool/core/valgrind_core.h"

void ch_mappings_init(void);
/* Logs the memory that the program starts with. */
void ch_mappings_log_startup(void);

/* In a forked child: logs the memory that it has from its parent. What the
   program had stored must have been sent. Costs a copy of all pages that exist,
   and of all that is mapped of files. */
void ch_mappings_log_inherited(void);

/* How the mapping will be shared that the mmap or shmat call under way makes.
   `fd`: of the file; `shm_id`: the id of System V shared memory plus 1, or 0.
 */
void ch_mappings_expect_shared(Bool shared, Int fd, UWord shm_id);
/* The main stack grew down from `end` to `start`, in the middle of client code.
   This is logged by ch_mappings_log_stack_growth() as soon as no client code
   runs. */
void ch_mappings_stack_grew(Addr start, Addr end);
void ch_mappings_log_stack_growth(void);
/* The program has made a memfd. */
void ch_mappings_made_memfd(Int fd);
/* The kernel may change the word at any time from now on. */
void ch_mappings_watch_word(Addr word);
/* Another process will have what the program has: a child its memory and
   descriptors, or the receiver of a message some descriptors. */
void ch_mappings_before_sharing(void);

#endif
