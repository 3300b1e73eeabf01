/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that Valgrind's core reports as written: mostly by system calls. */
#ifndef CHRONICLE_RECORDER_TOOL_EVENTS_CORE_WRITES_H
#define CHRONICLE_RECORDER_TOOL_EVENTS_CORE_WRITES_H

#include "recorder/tool/core/valgrind_core.h"

void ch_core_writes_init(void);

#endif
