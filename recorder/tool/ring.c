/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorder's end of the ring: see trace-format/Stream.h for the layout. */
#include "tool.h"

#define FUTEX_WAIT 0
#define FUTEX_WAKE 1

/* Markers of events a chunk may hold beyond one run word an instruction. */
#define MARKER_ROOM 8000
/* Kept free for a CH_EV_FAULT, which must be in the chunk of the superblock that
   faulted. */
#define FAULT_ROOM 64
/* An indexer that waits is woken for so many chunks at once: waking it, and its
   going back to sleep, take as long as a chunk. It looks by itself now and then. */
#define WAKE_AT(chunk_count) ((chunk_count) / 16)
/* A block ends sooner, after half of its instructions at the soonest, if it
   would store to more pages than this: a question about a moment replays a part
   of one block, and what that costs is mostly the pages it touches. */
#define BLOCK_PAGES 24

Cursor cursor;
UInt block_number;

static struct ch_ring_header *ring;
static UChar *chunk;         /* the chunk being filled */
static UInt chunk_number;
static UInt markers;         /* events announced in this chunk */
static Long block_budget;    /* what the block began with */
static UChar *event_area, *event_next, *event_end;
static ULong run_start, store_start;
static volatile UInt *uncommitted; /* run word of the event begun last */

static void futex(UInt *word, UInt operation, UInt value) {
  VG_(do_syscall)(__NR_futex, (UWord)word, operation, value, 0, 0, 0, 0, 0);
}

static void open_chunk(void) {
  chunk = (UChar *)ring + CH_RING_HEADER_SIZE +
          (chunk_number % ring->chunk_count) * ring->chunk_stride;
  struct ch_chunk_header *header = (struct ch_chunk_header *)chunk;
  header->flags = 0;
  header->number = chunk_number + 1;
  run_start = (ULong)chunk + sizeof *header;
  event_area = (UChar *)run_start + ring->run_bytes;
  event_next = event_area;
  event_end = event_area + ring->event_bytes;
  store_start = (ULong)event_end;
  cursor.run = run_start;
  cursor.store = store_start;
  markers = 0;
}

void ring_open(Int fd) {
  struct ch_ring_header header;
  SysRes got = VG_(do_syscall)(__NR_pread64, fd, (UWord)&header, sizeof header,
                               0, 0, 0, 0, 0);
  if (sr_isError(got) || sr_Res(got) != sizeof header ||
      header.magic != CH_RING_MAGIC || header.version != CH_STREAM_VERSION)
    give_up("--ring-fd is not a ring of this version of Chronicle");
  SizeT size = CH_RING_HEADER_SIZE + header.chunk_count * header.chunk_stride;
  SysRes mapped = VG_(am_shared_mmap_file_float_valgrind)(
      size, VKI_PROT_READ | VKI_PROT_WRITE, fd, 0);
  if (sr_isError(mapped))
    give_up("cannot map the ring");
  VG_(close)(fd);
  ring = (struct ch_ring_header *)(Addr)sr_Res(mapped);
  open_chunk();
  cursor.budget = block_budget = ring->block_instructions;
  cursor.marks = marks_scaled();
  cursor.stretch_marks = marks_scaled_stretches();
}

void ring_detach(void) {
  /* One chunk's worth of private memory: block_full() starts over in it. */
  static Addr scratch;
  if (!scratch) {
    SysRes mapped = VG_(am_mmap_anon_float_valgrind)(ring->run_bytes +
                                                     ring->store_bytes);
    tl_assert(!sr_isError(mapped));
    scratch = sr_Res(mapped);
  }
  cursor.run = scratch;
  cursor.store = scratch + ring->run_bytes;
  cursor.budget = ring->block_instructions;
}

/* Announces the event begun last, now that its payload is complete: should we be
   killed in the middle of one, the run ends before it. */
void event_commit(void) {
  if (!uncommitted)
    return;
  __asm__ __volatile__("" ::: "memory");
  *uncommitted = CH_RUN_EVENT;
  uncommitted = NULL;
}

void ring_publish(UInt flags) {
  event_commit();
  struct ch_chunk_header *header = (struct ch_chunk_header *)chunk;
  header->run_words = (cursor.run - run_start) / 4;
  header->event_used = event_next - event_area;
  header->store_used = cursor.store - store_start;
  header->flags = flags;
  chunk_number++;
  __atomic_store_n(&ring->published, chunk_number, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&ring->indexer_waits, __ATOMIC_SEQ_CST) &&
      (flags & CH_CHUNK_LAST ||
       chunk_number - __atomic_load_n(&ring->consumed, __ATOMIC_RELAXED) >=
           WAKE_AT(ring->chunk_count)))
    futex(&ring->published, FUTEX_WAKE, 1);
  for (;;) {
    UInt consumed = __atomic_load_n(&ring->consumed, __ATOMIC_SEQ_CST);
    if (chunk_number - consumed < ring->chunk_count)
      break;
    __atomic_store_n(&ring->recorder_waits, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&ring->consumed, __ATOMIC_SEQ_CST) == consumed)
      futex(&ring->consumed, FUTEX_WAIT, consumed);
    __atomic_store_n(&ring->recorder_waits, 0, __ATOMIC_SEQ_CST);
  }
  open_chunk();
}

/* Follows what the last blocks did: pages are as many as their instructions. */
static void choose_budget(void) {
  const Long most = ring->block_instructions, least = (most + 1) / 2;
  const Long used = block_budget - cursor.budget;
  const UInt pages = marks_pages_told();
  if (used < least) /* ended by something else */
    return;
  Long wanted = pages > BLOCK_PAGES ? used * BLOCK_PAGES / pages : most;
  wanted = wanted < least ? least : wanted > most ? most : wanted;
  block_budget = (3 * block_budget + wanted) / 4;
}

void ring_end_block(void) {
  choose_budget();
  ring_publish(CH_CHUNK_BLOCK_END);
  block_number++;
  cursor.budget = block_budget;
  UInt requests = __atomic_load_n(&ring->requests, __ATOMIC_RELAXED);
  if (requests & CH_REQUEST_STOP)
    stop_recording(CH_END_STOPPED);
  else if (requests & CH_REQUEST_LOG_LOADS)
    start_logging_loads(CH_LOADS_UNREPORTED_WRITE);
}

void *event(UInt kind, SizeT size) {
  SizeT padded = sizeof(struct ch_event_header) + VG_ROUNDUP(size, 8);
  tl_assert(padded <= ring->event_bytes);
  event_commit();
  if (kind != CH_EV_FAULT &&
      (event_next + padded + FAULT_ROOM > event_end || markers >= MARKER_ROOM)) {
    /* A superblock in flight still writes its slots into this chunk. */
    tl_assert(running_thread == VG_INVALID_THREADID);
    ring_publish(0);
  }
  struct ch_event_header *header = (struct ch_event_header *)event_next;
  header->kind = kind;
  header->size = size;
  event_next += padded;
  VG_(memset)(header + 1, 0, size < 64 ? VG_ROUNDUP(size, 8) : 64);
  uncommitted = (volatile UInt *)cursor.run;
  cursor.run += 4;
  markers++;
  return header + 1;
}

void event_shrink(void *payload, SizeT size) {
  struct ch_event_header *header = (struct ch_event_header *)payload - 1;
  header->size = size;
  event_next = (UChar *)payload + VG_ROUNDUP(size, 8);
}

void event_cancel(void *payload) {
  event_next = (UChar *)payload - sizeof(struct ch_event_header);
  cursor.run -= 4;
  markers--;
  uncommitted = NULL;
}

void ring_mark_fault(void) {
  tl_assert(cursor.run > run_start);
  ((UInt *)cursor.run)[-1] |= CH_RUN_FAULT;
}

void cursor_take(void) {
  if (running_thread != VG_INVALID_THREADID)
    VG_(get_shadow_regs_area)
    (running_thread, (UChar *)&cursor, 1, CURSOR_OFFSET - CH_GUEST_STATE_SIZE,
     sizeof cursor);
}

void cursor_give_back(void) {
  event_commit();
  if (running_thread != VG_INVALID_THREADID)
    VG_(set_shadow_regs_area)
    (running_thread, 1, CURSOR_OFFSET - CH_GUEST_STATE_SIZE, sizeof cursor,
     (UChar *)&cursor);
}
