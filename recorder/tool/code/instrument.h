/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code added to each superblock, and its definition.
 *
 * This is the fast path. Each execution of a superblock charges the block's
 * budget (a comparison and a call that is hardly ever made), takes a run word
 * from the cursor and writes the number of the superblock's first exit there,
 * writes that of the next after each side exit it passes, and marks the stores
 * of the program (stores.h). Superblocks with something to log take slots as
 * well (slots.h). There are no other calls and no branches. Whatever is known
 * at translation goes into the definition (definition.h).
 */
#ifndef CHRONICLE_RECORDER_TOOL_CODE_INSTRUMENT_H
#define CHRONICLE_RECORDER_TOOL_CODE_INSTRUMENT_H

#include "recorder/tool/code/definition.h"
#include "recorder/tool/core/valgrind_core.h"

/* The superblock that was instrumented last. */
struct ch_superblock {
  struct ch_definition definition;
  UInt run_words;      /* its side exits plus 1 */
  const UInt *reasons; /* why its values are opaque, in program order */
  UInt reason_count;
  Bool decodes; /* it does not end before an instruction that VEX does not
                   know */
};

/* Returns what stands for the first exit's number in generated code; the
   numbers behind it stand for the other exits'. Called for each superblock that
   was instrumented; set by translation/translate.c. */
extern UInt (*ch_number_exits)(const struct ch_superblock *s);

/* Valgrind calls this for each superblock that it translates. */
IRSB *ch_instrument(VgCallbackClosure *closure, IRSB *in,
                    const VexGuestLayout *layout,
                    const VexGuestExtents *extents, const VexArchInfo *arch,
                    IRType guest_word, IRType host_word);

#endif
