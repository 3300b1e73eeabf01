/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translations of earlier recordings: the files of the translation cache
 * (trace-format/Translations.h), which `chronicle record` has opened. They are
 * mapped read-only, so that recordings share their pages and only what is used
 * is read.
 */
#ifndef CHRONICLE_RECORDER_TOOL_TRANSLATION_STORED_H
#define CHRONICLE_RECORDER_TOOL_TRANSLATION_STORED_H

#include "recorder/tool/core/valgrind_core.h"

/* Maps the files of these descriptors, "3,4,5", and closes them. */
void ch_stored_open(const HChar *descriptors);
/* The translation of the subject, whose hash is `key`, if there is one and the
   program's bytes are the same; otherwise NULL. A file with a translation that
   is damaged is reported and not used any more. */
const struct ch_translation *
ch_stored_find(const struct ch_translation_subject *subject, ULong key);

#endif
