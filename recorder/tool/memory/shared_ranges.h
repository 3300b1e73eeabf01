/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared mappings. Every page of a shared object has one image in the trace,
 * however often it is mapped, so each object has a number.
 */
#ifndef CHRONICLE_RECORDER_TOOL_MEMORY_SHARED_RANGES_H
#define CHRONICLE_RECORDER_TOOL_MEMORY_SHARED_RANGES_H

#include "recorder/tool/core/valgrind_core.h"

struct ch_shared_range {
  Addr start, end;
  ULong offset; /* of `start` in the object */
  UInt object;
};

/* The number of a file or of System V shared memory, which gets one when it is
   first mapped. Objects are told apart by device and inode. */
UInt ch_shared_object_number(ULong device, ULong inode);
/* Anonymous shared memory is a new object each time it is mapped. (mremap keeps
   the object.) */
UInt ch_new_anonymous_object(void);
/* Whether there has been any. */
Bool ch_have_anonymous_objects(void);
/* A memfd that the program made itself. */
void ch_shared_object_made(ULong device, ULong inode);
/* Whether the object is the program's own as long as it does not fork or pass a
   descriptor on: anonymous memory, or a memfd it made. */
Bool ch_shared_object_is_own(UInt object);

void ch_shared_range_add(Addr start, Addr end, ULong offset, UInt object);
/* Forgets what is in [start, end), cutting ranges that are partly in it. */
void ch_shared_range_forget(Addr start, Addr end);
/* All of them, in no order. Valid until they change. */
const struct ch_shared_range *ch_shared_ranges(UInt *count);
/* The range that has the address, or NULL. Valid until the ranges change. */
const struct ch_shared_range *ch_shared_range_find(Addr address);

#endif
