/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The superblocks of the run: each definition is sent once, and its exits get
 * their numbers then.
 */
#ifndef CHRONICLE_RECORDER_TOOL_TRANSLATION_SUPERBLOCKS_H
#define CHRONICLE_RECORDER_TOOL_TRANSLATION_SUPERBLOCKS_H

#include "recorder/tool/code/instrument.h"
#include "recorder/tool/core/valgrind_core.h"

/* Sends the definition and the names of its reasons, unless the same one was
   sent before. Returns the number of its first exit. Stops the recording if
   there are too many superblocks. */
UInt ch_superblock_send(const struct ch_superblock *s);

#endif
