/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorder's end of the ring: chunks, blocks, events, and the cursor of the
 * fast path. trace-format/Stream.h describes the layout.
 */
#ifndef CHRONICLE_RECORDER_TOOL_STREAM_RING_H
#define CHRONICLE_RECORDER_TOOL_STREAM_RING_H

#include "recorder/tool/core/valgrind_core.h"

/* Exits if the descriptor is not a ring of this version. */
void ch_ring_open(Int fd);
/* In a forked child: leaves the ring to the parent and begins with another one.
   Returns False, and changes nothing, if that cannot be mapped. */
Bool ch_ring_replace(Int fd);
/* From now on the fast path writes into memory that nothing reads. To be called
   again whenever the block is full. */
void ch_ring_detach(void);
/* Ends the chunk. Waits for the indexer if the ring is full. */
void ch_ring_publish(UInt flags);
/* The same, and the indexer reads it at once. */
void ch_ring_hand_over(void);
/* The indexer's requests (CH_REQUEST_*). */
UInt ch_ring_requests(void);

/* What `chronicle record` wants to know of the translation cache. */
struct ch_translation_report *ch_ring_translation_report(void);

/* ---- blocks ---- */

/* Number of the current block. */
extern UInt ch_block_number;
/* The block must end after the current events, because some of them hold memory
   contents by reference. */
extern Bool ch_block_must_end;
/* Ends the block together with its chunk. `pages` is how many pages it stored
   to, by which the length of the next blocks is chosen. */
void ch_ring_end_block(UInt pages);

/* ---- events ---- */

/* Starts an event with a payload of `size` bytes and returns where to put it;
   its first 64 bytes are zeroed. The event counts only once it is committed, so
   that a killed recorder leaves no half-written one. ch_event(),
   ch_ring_publish() and ch_cursor_give_back() commit the event before them. */
void *ch_event(UInt kind, SizeT size);
void ch_event_commit(void);
/* Shortens the payload of the last event to `size` bytes. */
void ch_event_shrink(void *payload, SizeT size);
/* Takes back the last event, which must not be committed. */
void ch_event_cancel(void *payload);
/* Logs a load of watched memory while its superblock runs. May be called for
   each load of a superblock, if ch_ring_make_room() was called before client
   code began to run. */
void ch_event_inside(UChar *guest_state, const struct ch_ev_loaded *event,
                     const UChar *bytes);
/* Ends the chunk if it has no room for the loads of a superblock. */
void ch_ring_make_room(void);
/* Marks the run word of the last execution as left by a fault. */
void ch_ring_mark_fault(void);

/* ---- the cursor ---- */

/* Where the fast path writes. While client code runs, the cursor lives in the
   thread's shadow state, where generated code reaches each field with one
   instruction; otherwise it lives in ch_cursor. */
struct ch_cursor {
  ULong run;   /* next word of the run area */
  ULong store; /* next slot of the store area */
  Long budget; /* instructions left in the block */
  /* Constants that lead from an address to its marks (memory/marks.h). */
  ULong byte_marks, sector_marks;
};
extern struct ch_cursor ch_cursor;
/* Offset of the cursor in the guest state as generated code sees it: in the
   first shadow copy, which this tool uses for nothing else. */
#define CH_CURSOR_OFFSET (CH_GUEST_STATE_SIZE + 16)
/* 32 bytes behind the cursor that generated code may write and nothing reads.
 */
#define CH_UNUSED_OFFSET (CH_CURSOR_OFFSET + sizeof(struct ch_cursor))

/* The thread whose client code runs and whose state holds the cursor;
   VG_INVALID_THREADID if no client code runs. */
extern ThreadId ch_running_thread;
/* Events that may come while client code runs (faults) must be enclosed in
   these two: they take the cursor out of the running thread's state and put it
   back. If no client code runs there is nothing to take or put back. */
void ch_cursor_take(void);
void ch_cursor_give_back(void);

#endif
