/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program's memory map, as Valgrind knows it. */
#ifndef CHRONICLE_RECORDER_TOOL_MEMORY_SEGMENTS_H
#define CHRONICLE_RECORDER_TOOL_MEMORY_SEGMENTS_H

#include "recorder/tool/core/valgrind_core.h"

/* The kinds of segments that belong to the program. */
#define CH_SEGMENT_KINDS (SkFileC | SkAnonC | SkShmC)

/* The first of the program's segments that starts at or after the address;
   NULL: there is none. */
const NSegment *ch_next_segment(Addr after);

struct ch_writable_range {
  Addr start, end;
  Bool anonymous; /* so that reading it cannot fault */
};
/* Where the program can write, by address. Valid until the map changes. Costs
   nothing if the map has not changed since the last call. */
const struct ch_writable_range *ch_writable_ranges(UInt *count);
struct ch_file_range {
  Addr start, end;
  ULong device, inode;
  ULong offset; /* of `start` in the file */
};
/* Where files are mapped, by address. Valid and free as the above. */
const struct ch_file_range *ch_file_ranges(UInt *count);

/* The map has changed. */
void ch_segments_changed(void);

#endif
