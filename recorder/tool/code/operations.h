/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which values replay can compute: those of the operations in ReplayOps.def and
 * of the helpers in ReplayHelpers.def. All others are opaque, which means that
 * they are logged.
 */
#ifndef CHRONICLE_RECORDER_TOOL_CODE_OPERATIONS_H
#define CHRONICLE_RECORDER_TOOL_CODE_OPERATIONS_H

#include "recorder/tool/core/valgrind_core.h"

/* Whether replay can compute an expression of flat IR. */
Bool ch_replay_computes(const IRExpr *e);

/* What the bytecode calls the operation of an expression that replay computes:
   an opcode from CH_OP_FIRST on, and a helper's number. */
UInt ch_operation_opcode(const IRExpr *e);
UInt ch_helper_number(const IRExpr *call);

/* Why the value of an expression that replay cannot compute is opaque. */
UInt ch_opaque_reason(const IRExpr *e);
/* Logs the name of a reason, once, if it is not one of the fixed ones. */
void ch_log_reason_name(UInt reason);
/* Logs all names that were logged once more, in a forked child. */
void ch_log_reason_names_again(void);

#endif
