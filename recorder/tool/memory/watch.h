/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watched memory: mappings that something other than the program's own stores
 * and system calls can change, such as memory shared with another process.
 *
 * For each page of such a mapping there is a copy with the bytes that the trace
 * knows. Generated code (code/watches.c) tests one flag per access. Where that
 * is set, it calls in here: a load compares the value that it has loaded with
 * the copy, and logs what differs as a write from outside, right before that
 * load; a store goes into the copy as well. So a change is found where the
 * program first sees it, and no change can slip between comparing and loading.
 * What the program stores to watched memory is sent from the copy, because by
 * then the memory itself may hold what others wrote.
 *
 * While all loads are logged there are no copies and no tests. Then the ranges
 * only say what the audit must leave out.
 *
 * Cost: an access to other memory takes about five instructions, once there is
 * any watched memory at all; one to watched memory takes about 30. Each page
 * that is not zero is held once more.
 */
#ifndef CHRONICLE_RECORDER_TOOL_MEMORY_WATCH_H
#define CHRONICLE_RECORDER_TOOL_MEMORY_WATCH_H

#include "recorder/tool/core/valgrind_core.h"

/* Superblocks that are translated from now on test the flags. */
extern Bool ch_watching;

/* The flag of a page is at its number modulo CH_WATCH_FLAGS. It is set if the
   page, one before or one behind it is watched, or a page with the same flag
   is. So the flag at an address answers for CH_WATCH_REACH bytes before and
   behind it. */
#define CH_WATCH_FLAGS (1u << 22)
#define CH_WATCH_REACH VKI_PAGE_SIZE
extern UChar ch_watch_flags[CH_WATCH_FLAGS];

/* Watches [start, end), which are whole pages. Pages of a shared object have
   one copy wherever they are mapped: `object` is its number, or 0 if the
   mapping is private, and `offset` that of `start` in it. The copies of pages
   that are not watched yet are zero: ch_watch_learn() must be called for what
   they hold. */
void ch_watch_add(Addr start, Addr end, UInt object, ULong offset);
/* Ends the watch on what is in [start, end). */
void ch_watch_forget(Addr start, Addr end);
/* Whether something in [start, end) is watched. */
Bool ch_watch_overlaps(Addr start, Addr end);

/* The copy of a page, or NULL if it is not watched. */
const UChar *ch_watch_page(Addr page);
/* The trace has these bytes at the address now. Does nothing where memory is
   not watched. */
void ch_watch_learn(Addr address, const UChar *bytes, SizeT length);
void ch_watch_learn_zeros(Addr start, Addr end);

/* For generated code. The value is at CH_UNUSED_OFFSET of the guest state. The
   functions are called through ch_watch_helper(). */
enum ch_watch_access {
  CH_WATCH_LOAD,
  CH_WATCH_SWAP, /* the load of a compare-and-swap */
  CH_WATCH_STORE,
  CH_WATCH_ACCESSES
};
/* The function for an access of 1, 2, 4, 8, 16 or 32 bytes. It takes one
   argument, the address. */
void *ch_watch_helper(enum ch_watch_access access, UInt size);
/* A helper of VEX's has written `size` bytes at the address, which were logged
   at `logged`. */
void ch_watch_written(Addr address, Addr logged, UWord size);

#endif
