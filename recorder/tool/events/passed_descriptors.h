/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds out whether a message gives descriptors to another process. */
#ifndef CHRONICLE_RECORDER_TOOL_EVENTS_PASSED_DESCRIPTORS_H
#define CHRONICLE_RECORDER_TOOL_EVENTS_PASSED_DESCRIPTORS_H

#include "recorder/tool/core/valgrind_core.h"

/* Whether a call of sendmsg or sendmmsg with these arguments does. */
Bool ch_passes_descriptors(UInt number, const UWord *args);

#endif
