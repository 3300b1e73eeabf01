/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The slots of a superblock: generated code logs opaque values there, and
 * accesses where they are logged. The slots are allocated together when the
 * superblock is entered, and filled in program order at offsets that are fixed
 * at translation. trace-format/Stream.h says what is in each.
 */
#ifndef CHRONICLE_RECORDER_TOOL_CODE_SLOTS_H
#define CHRONICLE_RECORDER_TOOL_CODE_SLOTS_H

#include "recorder/tool/core/valgrind_core.h"

/* The superblock's slots begin at this address. */
void ch_slots_begin(IRExpr *address);
/* Bytes used so far. */
UInt ch_slots_bytes(void);

/* Logs a value alone. */
void ch_slots_log_value(IRExpr *value);
/* Logs an access: its address (none if the guard is false) and its bytes. */
void ch_slots_log_access(IRExpr *guard, IRExpr *address, IRExpr *value);
/* The same for an access whose value is in two halves. */
void ch_slots_log_pair(IRExpr *guard, IRExpr *address, IRExpr *low,
                       IRExpr *high);
/* Logs bytes of the guest state. */
void ch_slots_log_registers(UInt offset, UInt size);
/* Logs what memory holds if the guard is true. Returns where its bytes are. */
IRExpr *ch_slots_log_memory(IRExpr *guard, IRExpr *address, UInt size);

#endif
