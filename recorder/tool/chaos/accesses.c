/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/chaos/accesses.h"
#include "recorder/tool/chaos/chaos.h"
#include "recorder/tool/chaos/turns.h"
#include "recorder/tool/stream/ring.h"

/* The last thread that used eight bytes of memory. Words that have the same
   place in the table replace each other. */
#define WORDS (1 << 14)
static struct word {
  Addr number; /* the address, divided by 8 */
  UShort tid;
  Bool written; /* since it is in the table */
  Bool shared;  /* several threads used it, and one wrote it */
  UInt uses;    /* since it is shared */
} words[WORDS];

/* The thread's slice ends with this superblock, and others have theirs before
   it goes on. */
static void end_slice(ThreadId tid) {
  const UInt none = 0;
  ch_turn_skip(1 + ch_random(ch_random_of(tid)) % 16);
  VG_(set_shadow_regs_area)(tid, 0, 8, sizeof none, (const UChar *)&none);
}

/* Words that are used often lead to fewer switches per use, so that the program
   gets on. */
static UInt uses_per_switch(UInt uses) {
  return uses < 8       ? 2
         : uses < 64    ? 4
         : uses < 1024  ? 32
         : uses < 16384 ? 256
                        : 4096;
}

static void used(Addr address, Bool writes) {
  const Addr number = address / 8;
  struct word *w = &words[number * 0x9e3779b97f4a7c15ull >> 50];
  const ThreadId tid = ch_running_thread;
  if (w->number != number) {
    w->number = number;
    w->tid = tid;
    w->written = writes;
    w->shared = False;
    w->uses = 0;
    return;
  }
  w->written |= writes;
  if (w->tid != tid) {
    w->tid = tid;
    w->shared |= w->written;
  }
  if (w->shared && ch_one_in(ch_random_of(tid), uses_per_switch(w->uses++)))
    end_slice(tid);
}

void ch_chaos_load(Addr address) { used(address, False); }
void ch_chaos_store(Addr address) { used(address, True); }
