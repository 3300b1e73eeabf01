/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The definitions that were sent before. Valgrind throws translations away (its
 * cache is full, or code was unmapped) and makes them again, and most come out
 * the same; those are not sent twice. Definitions are remembered by a 128-bit
 * hash of their bytes.
 */
#ifndef CHRONICLE_RECORDER_TOOL_TRANSLATION_KNOWN_DEFINITIONS_H
#define CHRONICLE_RECORDER_TOOL_TRANSLATION_KNOWN_DEFINITIONS_H

#include "recorder/tool/code/definition.h"
#include "recorder/tool/core/valgrind_core.h"

/* The number of the first exit of a definition that was sent before; 0: there
   is none with this hash. */
UInt ch_known_first_exit(struct ch_hash hash);
void ch_remember_definition(struct ch_hash hash, UInt first_exit);

#endif
