/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the program's own stores changed. Stores are not logged one by one:
 * generated code (code/stores.c) marks the bytes it stored to, and at the end
 * of a block the marked granules are sent with the bytes they hold by then.
 *
 * There are two maps. The byte map has one byte per byte of the address space:
 * marking a store is one more store, of all ones and the same width, to the
 * same address plus a constant. The sector map has one byte per sector of 512
 * bytes, so that it is quick to find where the byte map has marks. A mark of a
 * sector stands for the CH_MARKS_REACH bytes from the address it was made for,
 * which may reach into the next sector.
 *
 * A store is marked after it happened, so an address that faults is never
 * marked.
 *
 * Cost: as much memory again as the program writes to. Sending looks at every
 * byte of each marked sector, and at one byte per sector of all memory that was
 * ever written.
 */
#ifndef CHRONICLE_RECORDER_TOOL_MEMORY_MARKS_H
#define CHRONICLE_RECORDER_TOOL_MEMORY_MARKS_H

#include "recorder/tool/core/valgrind_core.h"

#define CH_SECTOR_SHIFT 9
#define CH_MARKS_REACH 64

/* Stores are marked. If False they are logged one by one: there is no memory
   for the maps, or the program uses addresses that they do not cover. */
extern Bool ch_marking;

/* Makes the maps and puts into the cursor what generated code needs to find
   marks: byte_marks is an eighth of the distance from an address to its mark,
   sector_marks an eighth of the distance from a sector's number to its mark.
   The low byte of sector_marks is not 0 and serves as the mark of a sector;
   likewise the low four of byte_marks, as marks of bytes. */
void ch_marks_init(void);

/* Marks bytes as if the program had stored to them. */
void ch_marks_mark(Addr address, SizeT length);

/* Sends what was stored since the last time: everything, or what is in a range
   that is about to change. No client code may be running. */
void ch_marks_send_all(void);
void ch_marks_send_range(Addr from, Addr to);
/* Returns how many pages were sent since the last call, and starts again
   from 0. */
UInt ch_marks_take_page_count(void);

/* The mmap call under way leaves the choice of the address to Valgrind, for a
   mapping of `length` bytes; 0: it does not. */
void ch_marks_expect_hint(SizeT length);
/* The program has memory up to the address. If the maps do not cover that,
   marking ends. */
void ch_marks_cover(Addr limit);

#endif
