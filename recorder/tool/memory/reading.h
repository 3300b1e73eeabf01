/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the program's memory. Bytes that may not be readable are read through
 * /proc/self/mem, which fails where memory would fault and ignores PROT_NONE.
 */
#ifndef CHRONICLE_RECORDER_TOOL_MEMORY_READING_H
#define CHRONICLE_RECORDER_TOOL_MEMORY_READING_H

#include "recorder/tool/core/valgrind_core.h"

/* Exits if /proc is not mounted. */
void ch_reading_init(void);

/* In a forked child: what the parent opened shows the parent's memory. Returns
   False if it cannot be opened again. */
Bool ch_reading_in_child(void);

/* Reads with a system call. Returns how many bytes could be read. */
SizeT ch_memory_read(Addr address, void *to, SizeT length);

/* Copies bytes that Valgrind takes to be readable, without a system call
   (unless they must be read through the kernel). Returns False if they turned
   out not to be readable, as those of a file that became shorter. */
Bool ch_memory_copy(Addr address, void *to, SizeT length);

/* While True, ch_memory_copy() uses a system call as well. This is needed where
   touching a page could block, or where its fault would end the process.
   Returns the old value. */
Bool ch_read_through_kernel(Bool on);

/* Finds which of `count` pages from the address on exist; nothing was ever
   written to the others. If the kernel does not say, all of them count as
   existing. */
#define CH_MOST_PAGES_TO_FIND 512
void ch_find_existing_pages(Addr address, UInt count, Bool *exists);
/* Finds which of `count` pages of a private mapping of a file the program has a
   copy of, because it stored to them. If the kernel does not say, none are. */
void ch_find_copied_pages(Addr address, UInt count, Bool *copied);
/* The first page of [start, end) that exists, or `end`. Costs next to nothing
   where page tables are empty. If the kernel does not say (before Linux 6.7),
   this is `start`. */
Addr ch_next_existing_page(Addr start, Addr end);

#endif
