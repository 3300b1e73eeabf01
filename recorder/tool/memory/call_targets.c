/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/memory/call_targets.h"
#include "recorder/tool/core/growing_array.h"
#include "recorder/tool/memory/contents.h"
#include "recorder/tool/memory/load_logging.h"
#include "recorder/tool/memory/marks.h"
#include "recorder/tool/memory/reading.h"
#include "recorder/tool/stream/threads.h"

#define NOT_KEPT (~0u)
/* What one call keeps in all. */
#define MOST_PER_CALL (1 << 20)

struct target {
  ThreadId tid;
  enum ch_target_kind kind;
  Addr start, end;
  UInt kept; /* where the call's kept bytes have it, or NOT_KEPT */
};
static CH_GROWING_ARRAY(struct target) targets;

struct call {
  CH_GROWING_ARRAY(UChar) kept;
  ULong begun; /* `stretches` when it began */
};
static CH_GROWING_ARRAY(struct call) calls; /* by thread id */
static ULong stretches;                     /* of client code, of all threads */

void ch_call_targets_count_stretch(void) { stretches++; }

/* What the trace has at `address`, which is in the target. */
static UChar *kept_at(const struct target *t, Addr address) {
  return calls.items[t->tid].kept.items + t->kept + (address - t->start);
}

static Addr higher(Addr a, Addr b) { return a > b ? a : b; }
static Addr lower(Addr a, Addr b) { return a < b ? a : b; }

#define FOR_EACH_TARGET(t)                                                     \
  for (struct target *t = targets.items; t < targets.items + targets.used; t++)
/* The kept targets that have bytes of [low, high), which are [from, to). */
#define FOR_EACH_KEPT(t, low, high)                                            \
  FOR_EACH_TARGET(t)                                                           \
  for (Addr from = higher(t->start, low), to = lower(t->end, high);            \
       from < to && t->kept != NOT_KEPT; from = to)

/* ---- before the call ---- */

/* Copies what the trace has there. Returns where the copy is, or NOT_KEPT if
   the memory cannot be read: then the kernel cannot write there either. */
static UInt keep(ThreadId tid, Addr start, Addr end) {
  struct call *c = &calls.items[tid];
  const UInt at = c->kept.used;
  if (at > MOST_PER_CALL)
    return NOT_KEPT;
  ch_array_reserve(&c->kept, at + (end - start));
  UChar *bytes = c->kept.items + at;
  if (!ch_memory_copy(start, bytes, end - start))
    return NOT_KEPT;
  c->kept.used += end - start;
  /* Calls of other threads may have written there already. */
  ch_call_targets_undo(start, bytes, end - start);
  return at;
}

static void add(ThreadId tid, Addr start, Addr end, enum ch_target_kind kind,
                Bool keeps) {
  struct target t = {tid, kind, start, end, NOT_KEPT};
  if (keeps)
    t.kept = keep(tid, start, end);
  ch_array_append(&targets, t);
}

/* Valgrind reports each member of an array by itself. */
static Bool extend_last(ThreadId tid, Addr start, Addr end) {
  struct target *t = &targets.items[targets.used - 1];
  if (!targets.used || t->tid != tid || t->kind != CH_TARGET_REPORTED ||
      t->kept == NOT_KEPT || start < t->end || start > t->end + 64 ||
      end - t->start > CH_MOST_KEPT / 2 ||
      kept_at(t, t->end) !=
          calls.items[tid].kept.items + calls.items[tid].kept.used ||
      keep(tid, t->end, end) == NOT_KEPT)
    return False;
  t->end = end;
  return True;
}

/* Whether stores of other threads are told apart from the kernel's by marks. */
static Bool stores_are_marked(void) { return ch_marking && !ch_logging_loads; }

/* A window holds bytes that Valgrind's wrapper now says the call may write. If
   stores are not marked, changes in a window say nothing, so the bytes become a
   target of their own. */
static void add_reported_window(ThreadId tid, const struct target *window,
                                Addr start, Addr end) {
  struct target t = {tid, CH_TARGET_REPORTED, start, lower(end, window->end),
                     window->kept + (start - window->start)};
  if (window->kind == CH_TARGET_WINDOW && !stores_are_marked())
    ch_array_append(&targets, t);
}

static struct call *call_of(ThreadId tid) {
  ch_array_reserve(&calls, tid + 1);
  return &calls.items[tid];
}

/* Where that part of [start, end) begins that the call has not kept yet. */
static Addr behind_kept(ThreadId tid, Addr start, Addr end,
                        enum ch_target_kind kind) {
  for (UInt i = 0; i < targets.used; i++) {
    const struct target t = targets.items[i];
    if (t.tid != tid || t.kept == NOT_KEPT || t.start > start || start >= t.end)
      continue;
    if (kind == CH_TARGET_REPORTED)
      add_reported_window(tid, &t, start, end);
    start = t.end;
  }
  return start;
}

void ch_call_targets_add(ThreadId tid, Addr start, Addr end,
                         enum ch_target_kind kind) {
  const Bool others = ch_threads_alive > 1;
  const Bool keeps = others || kind != CH_TARGET_REPORTED;
  struct call *c = call_of(tid);
  c->begun = stretches;
  if (end < start)
    end = ~0ull;
  if (kind != CH_TARGET_WRITTEN)
    start = behind_kept(tid, start, end, kind);
  if (start >= end)
    return;
  /* What the program stored there comes before what the kernel will write, but
     while other threads run it would be sent after the kernel has written. */
  if (others)
    ch_marks_send_range(start, end);
  if (keeps && kind == CH_TARGET_REPORTED && extend_last(tid, start, end))
    return;
  if (!keeps || end - start <= CH_MOST_KEPT) {
    add(tid, start, end, kind, keeps);
    return;
  }
  const Addr head = start + CH_MOST_KEPT / 2, tail = end - CH_MOST_KEPT / 2;
  add(tid, start, head, kind, True);
  add(tid, head, tail, kind, False);
  add(tid, tail, end, kind, True);
}

/* ---- while it is under way ---- */

Bool ch_call_targets_overlap(Addr start, Addr end) {
  FOR_EACH_TARGET(t)
  if (t->start < end && start < t->end)
    return True;
  return False;
}

void ch_call_targets_logged(Addr start, SizeT length) {
  FOR_EACH_KEPT(t, start, start + length)
  if (!ch_memory_copy(from, kept_at(t, from), to - from))
    t->kept = NOT_KEPT;
}

void ch_call_targets_forget(Addr start, Addr end) {
  FOR_EACH_TARGET(t)
  if (t->start < end && start < t->end)
    t->kept = NOT_KEPT;
}

void ch_call_targets_separate(Addr page, UChar *bytes, const UChar *marks) {
  FOR_EACH_KEPT(t, page, page + VKI_PAGE_SIZE)
  for (Addr a = from; a < to; a++)
    if (marks[a - page])
      *kept_at(t, a) = bytes[a - page];
    else
      bytes[a - page] = *kept_at(t, a);
}

void ch_call_targets_undo(Addr start, UChar *bytes, SizeT length) {
  FOR_EACH_KEPT(t, start, start + length)
  VG_(memcpy)(bytes + (from - start), kept_at(t, from), to - from);
}

void ch_call_targets_learn(Addr start, const UChar *bytes, SizeT length) {
  FOR_EACH_KEPT(t, start, start + length)
  VG_(memcpy)(kept_at(t, from), bytes + (from - start), to - from);
}

/* ---- after the call ---- */

/* A call of another thread will log the byte when it ends. */
static Bool belongs_to_other(ThreadId tid, Addr address) {
  FOR_EACH_TARGET(t)
  if (t->tid != tid && t->kind != CH_TARGET_WINDOW && t->start <= address &&
      address < t->end)
    return True;
  return False;
}

/* Logs the bytes that are not what the trace has. */
static void log_changes(ThreadId tid, const struct target *t) {
  UChar now[512];
  for (Addr at = t->start; at < t->end;) {
    const SizeT length = lower(t->end - at, sizeof now);
    const UChar *then = kept_at(t, at);
    if (!ch_memory_copy(at, now, length))
      return;
    for (UInt i = 0; i < length;) {
      const UInt first = i;
      while (i < length && now[i] != then[i] && !belongs_to_other(tid, at + i))
        i++;
      if (i > first)
        ch_contents_log(at + first, i - first, CH_MEM_SYSCALL, tid, True);
      else
        i++;
    }
    at += length;
  }
}

/* Whether a byte that differs from what the trace has must be the kernel's.
   Otherwise it may be another thread's store, which was not marked. */
static Bool changes_are_the_kernels(ThreadId tid) {
  return stores_are_marked() || calls.items[tid].begun == stretches;
}

static void log_target(ThreadId tid, const struct target *t,
                       enum ch_call_outcome outcome) {
  const Bool succeeded = outcome == CH_CALL_SUCCEEDED;
  const Bool known = t->kind == CH_TARGET_WRITTEN || t->kind == CH_TARGET_MAYBE;
  if (succeeded && t->kind == CH_TARGET_REPORTED)
    return;
  if ((succeeded && t->kind == CH_TARGET_WRITTEN) ||
      (t->kept == NOT_KEPT &&
       (outcome == CH_CALL_FAULTED || (succeeded && known)))) {
    ch_contents_log(t->start, t->end - t->start, CH_MEM_SYSCALL, tid, True);
    return;
  }
  if (t->kept == NOT_KEPT)
    return;
  /* Stores of other threads are not the kernel's. */
  if (ch_threads_alive > 1)
    ch_marks_send_range(t->start, t->end);
  if (t->kind != CH_TARGET_WINDOW || changes_are_the_kernels(tid))
    log_changes(tid, t);
}

void ch_call_targets_finish(ThreadId tid, enum ch_call_outcome outcome) {
  for (UInt i = 0; i < targets.used; i++)
    if (targets.items[i].tid == tid)
      log_target(tid, &targets.items[i], outcome);
  for (UInt i = 0; i < targets.used;)
    if (targets.items[i].tid == tid)
      ch_array_remove(&targets, i);
    else
      i++;
  call_of(tid)->kept.used = 0;
}

void ch_call_targets_in_child(void) {
  targets.used = 0;
  for (UInt i = 0; i < calls.capacity; i++)
    calls.items[i].kept.used = 0;
}
