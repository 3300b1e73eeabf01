/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory behind the end of the heap. When brk makes the heap shorter,
 * Valgrind clears what is behind its end and leaves it mapped. A program that
 * goes on using it would see zeros where it would fault without Valgrind, and
 * in the trace nothing is mapped there. So the pages are unmapped for real, and
 * mapped again before the heap grows over them. The kernel does not clear the
 * rest of the last page, so that is restored.
 */
#ifndef CHRONICLE_RECORDER_TOOL_MEMORY_HEAP_END_H
#define CHRONICLE_RECORDER_TOOL_MEMORY_HEAP_END_H

#include "recorder/tool/core/valgrind_core.h"

/* The call of brk under way wants the heap to end there. */
void ch_heap_end_expect(Addr end);
/* Restores what was behind the new end, on its page, up to the old end. */
void ch_heap_end_restore(Addr new_end, Addr old_end);
/* The heap ended at the page `end` and now ends at the page `start`. */
void ch_heap_end_unmap(Addr start, Addr end);
/* The heap now ends at the page `end`. */
void ch_heap_end_map(Addr end);

#endif
