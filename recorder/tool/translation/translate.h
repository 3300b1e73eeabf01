/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes each translation, or takes it from an earlier recording of the same
 * code (stored.h). LibVEX_Translate() is wrapped for it.
 *
 * VEX's output depends on the program's bytes and their address, on the
 * processor's features, and on what code is made for (CH_MODE_*); everything
 * else is the same for one build of the tool, which is linked at a fixed
 * address. Only the numbers of exits differ from run to run. So code is made
 * with placeholders for them, which are replaced in each run.
 *
 * Code that checks itself and code that Valgrind redirects is neither kept nor
 * looked up.
 */
#ifndef CHRONICLE_RECORDER_TOOL_TRANSLATION_TRANSLATE_H
#define CHRONICLE_RECORDER_TOOL_TRANSLATION_TRANSLATE_H

#include "recorder/tool/core/valgrind_core.h"

/* To be called before the first translation. If translations are kept, they are
   sent, and those in the given files (descriptors with commas between them) are
   used. Otherwise nothing is looked up, and superblocks are sent as they are
   instrumented. */
void ch_translate_init(Bool keep, const HChar *descriptors);

#endif
