/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/chaos/turns.h"
#include "recorder/tool/chaos/chaos.h"
#include "recorder/tool/core/kernel.h"

#define MOST_THREADS 4000 /* as launch/RecorderCommand.cpp says */
#define FUTEX_PRIVATE 128
#define FUTEX_WAIT_COMMAND 0
#define FUTEX_WAKE_COMMAND 1
/* How many threads in system calls are looked at before a choice. */
#define MOST_LOOKED_AT 16
/* How often they are looked at, with a pause between, until they sleep. */
#define MOST_LOOKS 10000
#define PAUSE_MICROSECONDS 50

/* Valgrind's declarations: what it says about a thread that gives up the lock.
 */
enum { STATUS_WAITS_FOR_CALL = 3, STATUS_YIELDS = 4 };
struct thread_state {
  ThreadId tid;
  UInt status;
};
extern struct thread_state *VG_(get_ThreadState)(ThreadId tid);

enum state { GONE, IN_CALL, WAITS, RUNS };

/* A thread, by the number that the kernel gave it. */
struct waiter {
  Int os_thread;
  ThreadId tid; /* or 0, until it has run */
  enum state state;
  Bool slow;     /* it was waited for in vain, and is not until it comes */
  Bool was_late; /* it came from a system call, and may be left out */
  UInt made;     /* threads in the order of their creation, from 1; or 0 */
  UInt priority; /* the highest runs first, if priorities count */
  UInt skipped;  /* how many choices it is left out of */
  UInt in_a_row; /* how often it was chosen without another in between */
  Int go;        /* what it sleeps on; 1: it has the turn */
};

static struct waiter waiters[MOST_THREADS];
static UInt used;
static struct waiter *has_turn;
static Bool deciding; /* a thread is choosing; the others leave that to it */
static UInt expected; /* threads that were created and have not come yet */
static UInt made;     /* threads that have come */
static Int guard;     /* protects all of this */
static ULong random;
static Bool by_priority;

static void lock(void) {
  while (__atomic_exchange_n(&guard, 1, __ATOMIC_ACQUIRE))
    VG_(do_syscall)(__NR_sched_yield, 0, 0, 0, 0, 0, 0, 0, 0);
}

static void unlock(void) { __atomic_store_n(&guard, 0, __ATOMIC_RELEASE); }

static void pause_briefly(void) {
  struct vki_timespec time = {0, PAUSE_MICROSECONDS * 1000};
  VG_(do_syscall)(__NR_nanosleep, (UWord)&time, 0, 0, 0, 0, 0, 0, 0);
}

static void reset(void) {
  used = 0;
  has_turn = NULL;
  deciding = False;
  expected = made = 0;
  guard = 0;
}

void ch_turns_init(ULong from) {
  random = from;
  by_priority = ch_one_in(&random, 4);
  reset();
}

static struct waiter *waiter_of(Int os_thread) {
  struct waiter *unused = NULL;
  for (UInt i = 0; i < used; i++) {
    if (waiters[i].state != GONE && waiters[i].os_thread == os_thread)
      return &waiters[i];
    if (waiters[i].state == GONE && !unused)
      unused = &waiters[i];
  }
  if (!unused) {
    tl_assert(used < MOST_THREADS);
    unused = &waiters[used++];
  }
  VG_(memset)(unused, 0, sizeof *unused);
  unused->os_thread = os_thread;
  if (expected)
    expected--;
  return unused;
}

/* Whether a thread in a system call is not asleep there, so that it will be
   here soon. */
static Bool is_on_its_way(const struct waiter *w) {
  HChar path[48], text[256];
  VG_(sprintf)(path, "/proc/self/task/%d/stat", w->os_thread);
  SysRes opened = VG_(open)(path, VKI_O_RDONLY, 0);
  if (sr_isError(opened))
    return False;
  const Int size = VG_(read)(sr_Res(opened), text, sizeof text - 1);
  VG_(close)(sr_Res(opened));
  text[size > 0 ? size : 0] = 0;
  const HChar *name_end = VG_(strrchr)(text, ')');
  if (!name_end || VG_(strlen)(name_end) < 3)
    return False;
  const HChar state = name_end[2];
  return state == 'R' || state == 'W';
}

/* Waits until every thread either waits here or sleeps in a system call, so
   that a choice depends on the program and not on how fast threads come here.
   Gives up where a thread takes long. */
static void settle(const struct waiter *me) {
  for (UInt look = 0;; look++) {
    struct waiter *late = NULL;
    UInt looked_at = 0;
    lock();
    const UInt count = used;
    const Bool none_expected = !expected;
    unlock();
    for (UInt i = 0; i < count && !late && looked_at < MOST_LOOKED_AT; i++) {
      struct waiter *w = &waiters[i];
      if (w == me || w->slow ||
          __atomic_load_n(&w->state, __ATOMIC_ACQUIRE) != IN_CALL)
        continue;
      looked_at++;
      if (is_on_its_way(w))
        late = w;
    }
    if (!late && none_expected)
      return;
    if (look == MOST_LOOKS) {
      lock();
      if (late && late->state == IN_CALL)
        late->slow = True;
      expected = 0;
      unlock();
      if (!late)
        return;
      look = 0;
    }
    pause_briefly();
  }
}

/* How many wait, and whether one of them is not to be left out. */
static UInt count_waiting(Bool *all_skipped) {
  UInt count = 0;
  *all_skipped = True;
  for (UInt i = 0; i < used; i++)
    if (waiters[i].state == WAITS) {
      count++;
      *all_skipped &= waiters[i].skipped != 0;
    }
  return count;
}

/* The waiting thread that was created next after this many, or NULL. */
static struct waiter *next_waiting(UInt after) {
  struct waiter *next = NULL;
  for (UInt i = 0; i < used; i++)
    if (waiters[i].state == WAITS && waiters[i].made > after &&
        (!next || waiters[i].made < next->made))
      next = &waiters[i];
  return next;
}

/* Numbers the threads that have come since the last choice. The kernel numbers
   threads in the order of their creation, and they come here in any order. */
static void number_new(void) {
  for (;;) {
    struct waiter *next = NULL;
    for (UInt i = 0; i < used; i++)
      if (waiters[i].state == WAITS && !waiters[i].made &&
          (!next || waiters[i].os_thread < next->os_thread))
        next = &waiters[i];
    if (!next)
      return;
    next->made = ++made;
    next->priority = ch_random(&random) >> 33;
  }
}

/* Chooses among the threads that wait, in the order of their creation, so that
   the choice does not depend on the order in which they came. */
static struct waiter *choose(void) {
  number_new();
  for (struct waiter *w = next_waiting(0); w; w = next_waiting(w->made)) {
    /* What wakes up late may find that others were faster. */
    if (w->was_late && ch_one_in(&random, 8))
      w->skipped = 1 + ch_random(&random) % 24;
    w->was_late = False;
  }
  Bool all_skipped;
  const UInt count = count_waiting(&all_skipped);
  struct waiter *chosen = NULL;
  UInt seen = 0;
  for (struct waiter *w = next_waiting(0); w; w = next_waiting(w->made)) {
    if (w->skipped && !all_skipped) {
      w->skipped--;
      continue;
    }
    seen++;
    if (!chosen || (by_priority ? w->priority > chosen->priority
                                : ch_random(&random) % seen == 0))
      chosen = w;
  }
  if (!chosen)
    return NULL;
  for (UInt i = 0; i < used; i++)
    if (&waiters[i] != chosen)
      waiters[i].in_a_row = 0;
  /* A thread may wait for others by looking again and again. And sometimes what
     was most important is not any more. */
  if (count > 1 && (++chosen->in_a_row > 16 || ch_one_in(&random, 6)))
    chosen->priority = ch_random(&random) >> 40;
  return chosen;
}

/* Gives the turn to one of those that wait. Called with `deciding` set. */
static void decide(const struct waiter *me, Int os_thread) {
  settle(me);
  lock();
  deciding = False;
  has_turn = choose();
  struct waiter *next = has_turn;
  if (next) {
    next->state = RUNS;
    __atomic_store_n(&next->go, 1, __ATOMIC_RELEASE);
  }
  unlock();
  if (next && next->os_thread != os_thread)
    VG_(do_syscall)(__NR_futex, (UWord)&next->go,
                    FUTEX_WAKE_COMMAND | FUTEX_PRIVATE, 1, 0, 0, 0, 0, 0);
}

static void wait_for_turn(void) {
  lock();
  const Int os_thread = VG_(gettid)();
  struct waiter *me = waiter_of(os_thread);
  Bool choosing = False;
  if (me->state != RUNS) {
    me->was_late = me->state == IN_CALL;
    if (me->state != WAITS)
      __atomic_store_n(&me->state, WAITS, __ATOMIC_RELEASE);
    me->slow = False;
    choosing = !has_turn && !deciding;
    deciding |= choosing;
  }
  unlock();
  if (choosing)
    decide(me, os_thread);
  while (!__atomic_load_n(&me->go, __ATOMIC_ACQUIRE))
    VG_(do_syscall)(__NR_futex, (UWord)&me->go,
                    FUTEX_WAIT_COMMAND | FUTEX_PRIVATE, 0, 0, 0, 0, 0, 0);
  me->go = 0;
}

static void give_up_turn(void) {
  lock();
  const Int os_thread = VG_(gettid)();
  struct waiter *me = waiter_of(os_thread);
  const UInt status =
      me->tid ? VG_(get_ThreadState)(me->tid)->status : STATUS_WAITS_FOR_CALL;
  __atomic_store_n(&me->state,
                   status == STATUS_YIELDS           ? WAITS
                   : status == STATUS_WAITS_FOR_CALL ? IN_CALL
                                                     : GONE,
                   __ATOMIC_RELEASE);
  has_turn = NULL;
  deciding = True;
  unlock();
  decide(me, os_thread);
}

void ch_turn_is_of(ThreadId tid) {
  if (has_turn)
    has_turn->tid = tid;
}

void ch_turn_skip(UInt choices) {
  if (has_turn)
    has_turn->skipped = choices;
}

void ch_turns_expect_thread(void) {
  lock();
  expected++;
  unlock();
}

/* ---- Valgrind's big lock ---- */

struct sched_lock;
extern struct sched_lock *__real_vgModuleLocal_create_sched_lock(void);
extern void __real_vgModuleLocal_acquire_sched_lock(struct sched_lock *);
extern void __real_vgModuleLocal_release_sched_lock(struct sched_lock *);

struct sched_lock *__wrap_vgModuleLocal_create_sched_lock(void) {
  /* Also in a forked child, whose other threads are not there. */
  reset();
  return __real_vgModuleLocal_create_sched_lock();
}

void __wrap_vgModuleLocal_acquire_sched_lock(struct sched_lock *big_lock) {
  if (ch_chaos)
    wait_for_turn();
  __real_vgModuleLocal_acquire_sched_lock(big_lock);
}

void __wrap_vgModuleLocal_release_sched_lock(struct sched_lock *big_lock) {
  __real_vgModuleLocal_release_sched_lock(big_lock);
  if (ch_chaos)
    give_up_turn();
}
