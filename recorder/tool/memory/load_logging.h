/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Load logging. Normally no load is logged, because the contents of memory are
 * known. Where something other than the program's own stores and system calls
 * may change a mapping, that mapping is watched (memory/watch.h). Where it may
 * change any memory, every load is logged with its value.
 */
#ifndef CHRONICLE_RECORDER_TOOL_MEMORY_LOAD_LOGGING_H
#define CHRONICLE_RECORDER_TOOL_MEMORY_LOAD_LOGGING_H

#include "recorder/tool/core/valgrind_core.h"

/* Every superblock that is translated from now on logs its loads. */
extern Bool ch_logging_loads;
/* The user forbade it. */
extern Bool ch_never_log_loads;

/* Starts load logging, unless it is on already or the user forbade it. */
void ch_start_logging_loads(enum ch_log_loads_reason why);
/* Starts to test whether the memory that is accessed is watched
   (memory/watch.h), or to log all loads where stores cannot be marked. */
void ch_start_watching(void);
/* Logs that loads are logged or watched, if they are. */
void ch_load_logging_log(void);
/* Throws away the translations from before load logging, once. Does nothing
   while client code runs, so it must be called again when that has stopped. */
void ch_discard_old_translations(void);

#endif
