/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results of system calls that the interface allows and that are rare without
 * chaos: short reads and writes, EINTR, and waits that end without a reason.
 */
#ifndef CHRONICLE_RECORDER_TOOL_CHAOS_CALLS_H
#define CHRONICLE_RECORDER_TOOL_CHAOS_CALLS_H

#include "recorder/tool/core/valgrind_core.h"

/* Before FUTEX_WAIT: may complete the call as if something had woken the
   thread. */
void ch_chaos_before_futex(ThreadId tid, const struct ch_call *call,
                           struct ch_call_status *status, UWord *flags);

#endif
