/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/chaos/chaos.h"
#include "recorder/tool/chaos/turns.h"
#include "recorder/tool/core/growing_array.h"
#include "recorder/tool/stream/threads.h"

/* Valgrind's own slice, in superblocks. */
#define FULL_SLICE 100000
/* Where the guest state has the number of superblocks that are left. */
#define SLICE_OFFSET 8
/* After so many slices they are twice as long, and so on, so that chaos does
   not take most of the time of a long run. */
#define SLICES_UNTIL_LONGER 4096
#define MOST_DOUBLINGS 10

Bool ch_chaos = False;
Bool ch_chaos_in_code = False;

static ULong seed;
static UInt slices;                       /* so far */
static CH_GROWING_ARRAY(ULong) sequences; /* by thread id */
static UInt longest_slice;                /* as a power of two */

/* SplitMix64, by Steele, Lea and Flood: every state is good. */
static ULong mix(ULong z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

ULong ch_random(ULong *state) { return mix(*state += 0x9e3779b97f4a7c15ull); }

ULong ch_random_hash(ULong number) {
  return mix(mix(number + 0x9e3779b97f4a7c15ull) ^ seed);
}

ULong *ch_random_of(ThreadId tid) {
  ch_array_reserve(&sequences, tid + 1);
  if (!sequences.items[tid])
    sequences.items[tid] = ch_random_hash(tid) | 1;
  return &sequences.items[tid];
}

void ch_chaos_init(ULong from) {
  /* Runs differ in how fine the chaos is, because no degree of it finds every
     race soonest. */
  static const UInt lengths[] = {6, 9, 12, 15};
  ch_chaos = True;
  seed = mix(from + 1);
  longest_slice = lengths[ch_random_hash(1ull << 32) % 4];
  ch_turns_init(ch_random_hash(1ull << 34));
}

void ch_chaos_end(void) { ch_chaos = ch_chaos_in_code = False; }

void ch_chaos_thread_created(void) {
  if (!ch_chaos)
    return;
  ch_turns_expect_thread();
  if (ch_chaos_in_code)
    return;
  ch_chaos_in_code = True;
  ch_discard_all_translations();
}

void ch_chaos_stretch_begins(ThreadId tid) {
  ch_turn_is_of(tid);
  if (ch_threads_alive < 2)
    return;
  UInt left;
  VG_(get_shadow_regs_area)(tid, (UChar *)&left, 0, SLICE_OFFSET, sizeof left);
  if (left != FULL_SLICE)
    return; /* goes on with the slice that it had */
  /* All scales are equally likely. */
  ULong *random = ch_random_of(tid);
  const UInt most = 1u << (ch_random(random) % (longest_slice + 1));
  const UInt doublings = slices++ / SLICES_UNTIL_LONGER;
  left = (1 + ch_random(random) % most)
         << (doublings < MOST_DOUBLINGS ? doublings : MOST_DOUBLINGS);
  if (left > FULL_SLICE)
    left = FULL_SLICE - 1;
  VG_(set_shadow_regs_area)(tid, 0, SLICE_OFFSET, sizeof left, (UChar *)&left);
}
