/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code that finds out whether a superblock accesses watched memory
 * (memory/watch.h): a flag is tested, and where it is set a function is called
 * with the value that was loaded or stored. Accesses that lie close together,
 * as far as their addresses show, share one test.
 */
#ifndef CHRONICLE_RECORDER_TOOL_CODE_WATCHES_H
#define CHRONICLE_RECORDER_TOOL_CODE_WATCHES_H

#include "recorder/tool/core/valgrind_core.h"
#include "recorder/tool/memory/watch.h"

/* Call after ch_places_begin(). */
void ch_watches_begin(void);
/* The value was just loaded from or stored to the address, if the guard (NULL:
   none) is true. The address is an atom of the original superblock. */
void ch_watches_access(enum ch_watch_access access, IRExpr *guard,
                       IRExpr *address, IRExpr *value);
/* The same for a value in two halves. */
void ch_watches_access_pair(enum ch_watch_access access, IRExpr *guard,
                            IRExpr *address, IRExpr *low, IRExpr *high);
/* A helper wrote `size` bytes at the address, which were logged at `logged`. */
void ch_watches_written(IRExpr *guard, IRExpr *address, IRExpr *logged,
                        UInt size);

#endif
