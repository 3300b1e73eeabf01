/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/stream/ring.h"
#include "recorder/tool/core/kernel.h"
#include "recorder/tool/stream/recording.h"

/* Events that a chunk may announce. Each takes a run word beyond the one per
   instruction that the run area has room for. */
#define MOST_EVENTS 8000
/* Bytes of the event area kept free for a CH_EV_FAULT, which must be in the
   same chunk as the superblock that faulted. */
#define FAULT_ROOM 64
/* What loads of watched memory may need while one superblock runs. */
#define INSIDE_EVENTS 512
#define INSIDE_EVENT_BYTES                                                     \
  (sizeof(struct ch_event_header) + sizeof(struct ch_ev_loaded) + 32)
/* A waiting indexer is woken once this many chunks are published, because
   waking it and its going back to sleep take as long as indexing a chunk. It
   also looks by itself now and then. */
#define WAKE_AT(chunk_count) ((chunk_count) / 16)
/* A block ends early, but not before half of its instructions, if it would
   store to more pages than this: a question about a moment replays part of one
   block, and most of what that costs is the pages the block touches. */
#define BLOCK_PAGES 24

struct ch_cursor ch_cursor;
ThreadId ch_running_thread = VG_INVALID_THREADID;
UInt ch_block_number;
Bool ch_block_must_end;

static struct ch_ring_header *ring;
static SizeT ring_size;
static UChar *chunk; /* the chunk being filled */
static UInt chunk_number;
static UInt events;       /* announced in this chunk */
static Long block_budget; /* what the block began with */
static UChar *event_area, *event_next, *event_end;
static ULong run_start, store_start;
static volatile UInt *uncommitted; /* run word of the last event, or NULL */
static Bool ended_by_events; /* the block ends because the chunk is crowded */

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
  ch_cursor.run = run_start;
  ch_cursor.store = store_start;
  events = 0;
}

/* NULL, or why the descriptor's ring cannot be used. */
static const HChar *map_ring(Int fd) {
  struct ch_ring_header header;
  if (ch_pread(fd, &header, sizeof header, 0) != sizeof header ||
      header.magic != CH_RING_MAGIC || header.version != CH_STREAM_VERSION)
    return "--ring-fd does not name a ring of this version of Chronicle";
  const SizeT size =
      CH_RING_HEADER_SIZE + header.chunk_count * header.chunk_stride;
  SysRes mapped = VG_(am_shared_mmap_file_float_valgrind)(
      size, VKI_PROT_READ | VKI_PROT_WRITE, fd, 0);
  if (sr_isError(mapped))
    return "cannot map the ring";
  ring = (struct ch_ring_header *)(Addr)sr_Res(mapped);
  ring_size = size;
  return NULL;
}

void ch_ring_open(Int fd) {
  const HChar *problem = map_ring(fd);
  if (problem)
    ch_give_up(problem);
  VG_(close)(fd);
  open_chunk();
  ch_cursor.budget = block_budget = ring->block_instructions;
}

Bool ch_ring_replace(Int fd) {
  const Addr old = (Addr)ring;
  const SizeT old_size = ring_size;
  if (map_ring(fd))
    return False;
  VG_(close)(fd);
  VG_(am_munmap_valgrind)(old, old_size);
  uncommitted = NULL;
  ended_by_events = False;
  chunk_number = ch_block_number = 0;
  ch_block_must_end = False;
  open_chunk();
  ch_cursor.budget = block_budget = ring->block_instructions;
  return True;
}

void ch_ring_detach(void) {
  /* Private memory of the size of a chunk. */
  static Addr scratch;
  if (!scratch) {
    SysRes mapped =
        VG_(am_mmap_anon_float_valgrind)(ring->run_bytes + ring->store_bytes);
    tl_assert(!sr_isError(mapped));
    scratch = sr_Res(mapped);
  }
  ch_cursor.run = scratch;
  ch_cursor.store = scratch + ring->run_bytes;
  ch_cursor.budget = ring->block_instructions;
}

void ch_event_commit(void) {
  if (!uncommitted)
    return;
  /* The compiler must write the payload before the word that announces it. */
  __asm__ __volatile__("" ::: "memory");
  *uncommitted = CH_RUN_EVENT;
  uncommitted = NULL;
}

void ch_ring_publish(UInt flags) {
  ch_event_commit();
  struct ch_chunk_header *header = (struct ch_chunk_header *)chunk;
  header->run_words = (ch_cursor.run - run_start) / 4;
  header->event_used = event_next - event_area;
  header->store_used = ch_cursor.store - store_start;
  header->flags = flags;
  chunk_number++;
  __atomic_store_n(&ring->published, chunk_number, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&ring->indexer_waits, __ATOMIC_SEQ_CST) &&
      (flags & CH_CHUNK_LAST ||
       chunk_number - __atomic_load_n(&ring->consumed, __ATOMIC_RELAXED) >=
           WAKE_AT(ring->chunk_count)))
    ch_futex_wake(&ring->published);
  for (;;) {
    UInt consumed = __atomic_load_n(&ring->consumed, __ATOMIC_SEQ_CST);
    if (chunk_number - consumed < ring->chunk_count)
      break;
    __atomic_store_n(&ring->recorder_waits, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&ring->consumed, __ATOMIC_SEQ_CST) == consumed)
      ch_futex_wait(&ring->consumed, consumed);
    __atomic_store_n(&ring->recorder_waits, 0, __ATOMIC_SEQ_CST);
  }
  open_chunk();
}

void ch_ring_hand_over(void) {
  ch_ring_publish(0);
  ch_futex_wake(&ring->published);
}

UInt ch_ring_requests(void) {
  return __atomic_load_n(&ring->requests, __ATOMIC_RELAXED);
}

/* Forked children share the ring. Only the recorded process reports. */
struct ch_translation_report *ch_ring_translation_report(void) {
  static struct ch_translation_report not_sent;
  return ch_recording ? (void *)((UChar *)ring + CH_TRANSLATION_REPORT_OFFSET)
                      : &not_sent;
}

/* Chooses the length of the next block. The number of pages that a block stores
   to is taken to be proportional to its instructions, as it was in the last
   blocks. */
static void choose_budget(UInt pages) {
  const Long most = ring->block_instructions, least = (most + 1) / 2;
  const Long used = block_budget - ch_cursor.budget;
  const Bool by_length = used >= least && !ended_by_events;
  ended_by_events = False;
  if (!by_length)
    return;
  Long wanted = pages > BLOCK_PAGES ? used * BLOCK_PAGES / pages : most;
  wanted = wanted < least ? least : wanted > most ? most : wanted;
  block_budget = (3 * block_budget + wanted) / 4;
}

void ch_ring_end_block(UInt pages) {
  choose_budget(pages);
  ch_ring_publish(CH_CHUNK_BLOCK_END);
  ch_block_number++;
  ch_cursor.budget = block_budget;
}

void *ch_event(UInt kind, SizeT size) {
  SizeT padded = sizeof(struct ch_event_header) + VG_ROUNDUP(size, 8);
  tl_assert(padded <= ring->event_bytes);
  ch_event_commit();
  if (kind != CH_EV_FAULT &&
      (event_next + padded + FAULT_ROOM > event_end || events >= MOST_EVENTS)) {
    /* A running superblock would still write its slots into this chunk. */
    tl_assert(ch_running_thread == VG_INVALID_THREADID);
    ch_ring_publish(0);
  }
  struct ch_event_header *header = (struct ch_event_header *)event_next;
  header->kind = kind;
  header->size = size;
  event_next += padded;
  VG_(memset)(header + 1, 0, size < 64 ? VG_ROUNDUP(size, 8) : 64);
  uncommitted = (volatile UInt *)ch_cursor.run;
  ch_cursor.run += 4;
  events++;
  return header + 1;
}

void ch_event_shrink(void *payload, SizeT size) {
  struct ch_event_header *header = (struct ch_event_header *)payload - 1;
  header->size = size;
  event_next = (UChar *)payload + VG_ROUNDUP(size, 8);
}

void ch_event_cancel(void *payload) {
  event_next = (UChar *)payload - sizeof(struct ch_event_header);
  ch_cursor.run -= 4;
  events--;
  uncommitted = NULL;
}

/* ---- events inside a superblock ---- */

static Bool is_crowded(void) {
  return events + INSIDE_EVENTS > MOST_EVENTS ||
         event_next + INSIDE_EVENTS * INSIDE_EVENT_BYTES + FAULT_ROOM >
             event_end;
}

void ch_ring_make_room(void) {
  if (is_crowded())
    ch_ring_publish(0);
}

void ch_event_inside(UChar *guest_state, const struct ch_ev_loaded *event,
                     const UChar *bytes) {
  struct ch_cursor *theirs =
      (struct ch_cursor *)(guest_state + CH_CURSOR_OFFSET);
  const SizeT size = sizeof *event + event->length;
  struct ch_event_header *header = (struct ch_event_header *)event_next;
  tl_assert(!uncommitted && events < MOST_EVENTS &&
            event_next + sizeof *header + size + FAULT_ROOM <= event_end);
  header->kind = CH_EV_LOADED;
  header->size = size;
  VG_(memcpy)(header + 1, event, sizeof *event);
  VG_(memcpy)((UChar *)(header + 1) + sizeof *event, bytes, event->length);
  event_next += sizeof *header + VG_ROUNDUP(size, 8);
  events++;
  /* The compiler must write the payload before the word that announces it. */
  __asm__ __volatile__("" ::: "memory");
  *(volatile UInt *)theirs->run = CH_RUN_LOADED;
  theirs->run += 4;
  /* The chunk cannot end inside a superblock. With its budget used up, the
     block ends before the next one. */
  if (is_crowded() && theirs->budget > 0) {
    theirs->budget = 0;
    ended_by_events = True;
  }
}

void ch_ring_mark_fault(void) {
  UInt *word = (UInt *)ch_cursor.run;
  do {
    tl_assert((ULong)word > run_start);
    word--;
  } while (*word == CH_RUN_LOADED);
  *word |= CH_RUN_FAULT;
}

void ch_cursor_take(void) {
  if (ch_running_thread != VG_INVALID_THREADID)
    VG_(get_shadow_regs_area)(ch_running_thread, (UChar *)&ch_cursor, 1,
                              CH_CURSOR_OFFSET - CH_GUEST_STATE_SIZE,
                              sizeof ch_cursor);
}

void ch_cursor_give_back(void) {
  ch_event_commit();
  if (ch_running_thread != VG_INVALID_THREADID)
    VG_(set_shadow_regs_area)(ch_running_thread, 1,
                              CH_CURSOR_OFFSET - CH_GUEST_STATE_SIZE,
                              sizeof ch_cursor, (UChar *)&ch_cursor);
}
