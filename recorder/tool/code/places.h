/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known about the addresses of a superblock when it is translated:
 * which of them are the same value plus constants.
 */
#ifndef CHRONICLE_RECORDER_TOOL_CODE_PLACES_H
#define CHRONICLE_RECORDER_TOOL_CODE_PLACES_H

#include "recorder/tool/core/valgrind_core.h"

/* An address: the value of a temp plus a constant, or the constant alone. */
struct ch_place {
  IRTemp base; /* or IRTemp_INVALID */
  Long offset;
};

/* Looks at the superblock's assignments. */
void ch_places_begin(IRSB *in);
/* The place that an atom of this superblock names. */
struct ch_place ch_place_of(IRExpr *atom);

#endif
