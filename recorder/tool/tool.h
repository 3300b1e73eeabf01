/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorder: a Valgrind tool that writes down which superblocks ran, what
 * they stored and what came from outside. One file a role:
 *
 *   main.c        options, start and end
 *   ring.c        the ring: chunks, events, waiting
 *   instrument.c  the code added to each superblock (the fast path)
 *   puts.c        which registers it must keep exact
 *   stores.c      how it marks its stores
 *   define.c      a superblock's replay program
 *   stack.c       what is known of the stack pointer at translation
 *   threads.c     what happens between stretches of client code
 *   memory.c      mappings, contents, audit
 *   marks.c       what the program's own stores changed
 *   syscalls.c    system calls, output
 *   signals.c     signals and faults
 *   startup.c     hides Valgrind from the program's environment
 *
 * Everything here runs under Valgrind's big lock, so there is no locking.
 */
#ifndef CHRONICLE_RECORDER_TOOL_H
#define CHRONICLE_RECORDER_TOOL_H

#include "pub_tool_basics.h"
#include "pub_tool_aspacehl.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_guest.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "trace-format/Bytecode.h"
#include "trace-format/GuestState.h"
#include "trace-format/Stream.h"

/* ---- Valgrind's core: not in its tool interface, but linked all the same.
   Valgrind 3.19's declarations. ---- */
extern SysRes VG_(do_syscall)(UWord number, UWord, UWord, UWord, UWord, UWord,
                              UWord, UWord, UWord);
extern SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT length, UInt prot,
                                                      Int fd, Off64T offset);
extern SysRes VG_(am_mmap_anon_float_valgrind)(SizeT length);
extern Int VG_(safe_fd)(Int fd);
extern void VG_(atfork)(void (*pre)(ThreadId), void (*parent)(ThreadId),
                        void (*child)(ThreadId));
extern SysRes VG_(do_sys_sigaction)(Int number,
                                    const vki_sigaction_toK_t *action,
                                    vki_sigaction_fromK_t *before);
extern void VG_(discard_translations)(Addr start, ULong length,
                                      const HChar *who);
extern Bool VG_(in_generated_code);
extern const HChar *VG_(args_the_exename);
extern UInt VG_(clo_smc_check);
#define SMC_CHECK_ALL 2 /* enum VgSmc */

/* ---- main.c ---- */
enum log_loads { LOADS_AUTO, LOADS_ALWAYS, LOADS_NEVER };

/* False in a forked child and after a request to stop: the program goes on and
   nothing is written. */
extern Bool recording;
/* The program has begun to run; before that only definitions are written. */
extern Bool started;
/* Loads are logged by every superblock translated from now on. */
extern Bool logging_loads;
/* Turns load logging on, once, unless the user said never. */
void start_logging_loads(enum ch_log_loads_reason why);
/* Client code has stopped: do what had to wait for that. */
void discard_old_translations(void);
/* Before the program has started: says why and exits with status 125. */
__attribute__((noreturn)) void give_up(const HChar *why);
/* Writes no more from here on; the program does not notice. With a reason
   (ch_end_reason) the trace ends with it, without one (0) in silence. */
void stop_recording(UInt reason);

/* ---- ring.c ---- */

/* Where the fast path writes. While client code runs these three live in the
   thread's shadow state, where generated code can reach them in one
   instruction; otherwise here. */
typedef struct {
  ULong run;    /* next word of the run area */
  ULong store;  /* next slot of the store area */
  Long budget;  /* instructions left in the block */
  ULong marks, stretch_marks; /* marks_scaled*(): constant */
} Cursor;
extern Cursor cursor;
/* Offset of the cursor in the guest state as generated code sees it: in the
   first shadow copy, which this tool uses for nothing else. */
#define CURSOR_OFFSET (CH_GUEST_STATE_SIZE + 16)
/* Behind it 32 bytes to write to what nobody reads. */
#define UNUSED_OFFSET (CURSOR_OFFSET + sizeof(Cursor))

void ring_open(Int fd);
/* From now on the fast path writes into memory nobody reads. */
void ring_detach(void);
/* Ends the chunk. May wait for the indexer. */
void ring_publish(UInt flags);
/* Ends the block with its chunk. */
void ring_end_block(void);
/* Number of the current block. */
extern UInt block_number;

/* Starts an event with a payload of `size` bytes and returns where to put it,
   zeroed up to 64 bytes. It counts from the next event_commit() on, which
   event(), ring_publish() and cursor_give_back() do by themselves. */
void *event(UInt kind, SizeT size);
void event_commit(void);
/* Shortens the event begun last, whose payload was `size` bytes. */
void event_shrink(void *payload, SizeT size);
/* Takes back the event begun last. */
void event_cancel(void *payload);
/* Marks the last run word as left by a fault. */
void ring_mark_fault(void);

/* Around event() calls that may come while client code runs (faults): take the
   cursor out of the running thread's state and put it back. */
void cursor_take(void);
void cursor_give_back(void);

/* ---- threads.c ---- */
typedef struct {
  UInt number; /* ours, from 1; 0: the slot is free */
  UInt parent;
  UInt snapshot_block; /* 1 + last block with a snapshot of it */
  Bool has_state;
  Addr clear_tid; /* the kernel zeroes it when the thread ends */
  UChar state[CH_GUEST_STATE_SIZE]; /* when it last stopped */
} Thread;
extern ThreadId running_thread; /* VG_INVALID_THREADID: no client code runs */
Thread *thread_of(ThreadId tid);
UInt thread_number(ThreadId tid);
void threads_init(void);
/* The clone call under way asks the kernel to clear this word when the new
   thread ends (0: none). */
void threads_expect_clear_tid(Addr word);
void threads_final_snapshots(void);
/* Created and not gone; they may not have run yet. */
extern UInt threads_alive;
/* Called by the fast path when the block is full, in generated code: the guest
   state is where rbp points. */
void block_full_called(void);
/* The running thread faulted: its state now is its state at the stop. */
void thread_stopped_by_fault(ThreadId tid);
/* After the current events the block must end: they hold contents by
   reference. */
extern Bool block_must_end;

/* ---- memory.c ---- */
void memory_init(void);
void memory_log_startup(void);
/* Logs [address, address + length) as written by `source`, reading what is
   readable. `safe`: the memory is known to be readable. */
void memory_log(Addr address, SizeT length, UInt source, ThreadId tid,
                Bool safe);
/* Whole pages that hold nothing any more. */
void memory_gone(Addr start, Addr end, UInt source, ThreadId tid);
/* The file ends there now: beyond it nothing is left of what mappings had, not even
   of what the program wrote to private ones. */
void memory_file_cut(ULong device, ULong inode, ULong size, ThreadId tid);
/* The main stack grew down to `start`, in the middle of client code; logged by
   memory_log_stack_growth() when that is possible. */
void memory_stack_grew(Addr start, Addr end);
void memory_log_stack_growth(void);
/* What the mmap or shmat call under way asks for: decides how the mapping it
   makes is shared. */
void memory_expect_shared(Bool shared, UWord shm_id);
void memory_before_fork(void);
/* The thread's system call may write there, until it is over. */
void memory_call_will_write(ThreadId tid, Addr address, SizeT length);
/* The thread's system call is over, or it has none. */
void memory_syscall_over(ThreadId tid);
/* Whether a call under way may write there. */
Bool memory_is_target(Addr start, Addr end);
/* A granule as the program's stores left it: without what a call under way may
   have written at its ends. */
ULong memory_without_calls(Addr granule, ULong now);
/* The next writable page in turn, for the indexer to compare. */
void memory_audit_some(void);
void memory_audit_all(void);

/* Bytes at the address, which may be read as far as Valgrind knows: without a
   system call, unless the program has made pages that are not to be touched. False
   if they could not be read after all. */
Bool memory_copy(Addr address, UChar *to, SizeT length);
/* It is about to make such pages. */
void memory_expect_holes(void);
/* Which of the pages from the address on exist, for at most so many; of others
   nothing was ever written. If the kernel does not say, all do. */
#define MEMORY_EXISTING_MOST 512
void memory_find_existing(Addr address, UInt count, Bool *exists);
/* Where the program can write, in order. Valid until the next change. */
typedef struct {
  Addr start, end;
  Bool anonymous; /* reading it cannot fault */
} WritableRange;
const WritableRange *memory_writable(UInt *count);

/* ---- marks.c ---- */

/* Stores are marked and told later; if False they are logged one by one. */
extern Bool marking;
void marks_init(void);
/* An eighth of what leads from an address to its mark, and from the number of a
   stretch (the address, shifted) to its own. The low byte of the latter is the
   mark of a stretch, the low four of the former are marks of bytes. */
#define MARKS_STRETCH_SHIFT 9
/* How far beyond the end of a marked stretch there may be marks. */
#define MARKS_REACH 64
ULong marks_scaled(void);
ULong marks_scaled_stretches(void);
/* Tells what was stored since the last time: all of it, or in a range that is
   about to change. No client code may be running. */
void marks_tell_all(void);
void marks_tell_range(Addr from, Addr to);
/* How many pages were told since the last call. */
UInt marks_pages_told(void);
/* The mmap call under way may choose where, for so many bytes; 0: it may not. */
void marks_expect_hint(SizeT length);
/* The program has memory up to there. */
void marks_cover(Addr limit);

/* ---- instrument.c ---- */
IRSB *instrument(VgCallbackClosure *closure, IRSB *in,
                 const VexGuestLayout *layout, const VexGuestExtents *extents,
                 const VexArchInfo *arch, IRType guest_word, IRType host_word);

/* A table for a superblock, by temp or statement: the old one if it is large enough.
   What it holds is garbage. */
void *table(void *old, Int *size, Int needed, SizeT each);
/* IR by the word, added to the superblock being made. */
void emit(IRStmt *s);
IRExpr *assign(IRType type, IRExpr *e);
IRExpr *u8(UInt v);
IRExpr *u64(ULong v);
IRExpr *plus(IRExpr *address, ULong offset);
IRExpr *get_cursor(UInt field);
UInt size_of(IRType type);
/* The address, or another one if a guard (NULL: none) is false. */
IRExpr *guarded(IRExpr *guard, IRExpr *address, ULong otherwise);

/* ---- puts.c ---- */
void puts_begin(IRSB *in);
/* Whether the PUT that is this statement must be made. To be asked once for each,
   in program order. */
Bool put_is_needed(Int statement);
/* Registers change in a way that is not looked into. */
void puts_forget(void);
/* Whether the assignment that is this statement may fault, though nobody uses its
   value. */
Bool value_is_unused(Int statement);

/* ---- stores.c ---- */
void stores_begin(IRSB *in);
/* Marks what was just stored by the next of the superblock's plain stores. */
void mark_store(IRExpr *address);
/* The same if the guard says so. */
void mark_guarded_store(IRExpr *guard, IRExpr *address, UInt size);

/* ---- stack.c ---- */

/* The stack pointer as far as it is known when translating: the value that was
   set last (0: at entry) plus a constant. */
typedef struct {
  UInt base;
  Long delta;
} StackPointer;
void stack_follow_begin(IRTypeEnv *types);
void stack_follow_assignment(IRTemp temp, IRExpr *value);
/* After a PUT: True if the new stack pointer must be logged. */
Bool stack_follow_put(Int offset, IRExpr *value, UInt *origin);
StackPointer stack_now(void);

/* ---- define.c: writes replay bytecode ---- */
void define_begin(IRSB *in, Addr address);
Bool define_op_known(IROp op);
Bool define_helper_known(const HChar *name);
UInt define_op_reason(IROp op);
void define_instruction(UInt length);
void define_get(IRTemp temp, Int offset, IRType type);
void define_put(Int offset, IRType type, IRExpr *value);
void define_get_indexed(IRTemp temp, IRRegArray *array, IRExpr *index,
                        Int bias);
void define_put_indexed(IRRegArray *array, IRExpr *index, Int bias,
                        IRExpr *value);
void define_copy(IRTemp temp, IRType type, IRExpr *value);
void define_load(IRTemp temp, IRType type, IRExpr *address);
void define_store(IRType type, IRExpr *guard, IRExpr *address, IRExpr *value);
void define_load_guarded(IRLoadG *load);
void define_cas(IRCAS *cas, IRType type);
void define_ite(IRTemp temp, IRType type, IRExpr *expr);
void define_call(IRTemp temp, IRExpr *expr);
void define_op(IRTemp temp, IROp op, IRExpr **operands, Int count);
void define_opaque(IRTemp temp, IRType type, UInt reason);
void define_opaque_registers(UInt offset, UInt size, UInt reason);
void define_opaque_memory(IRExpr *guard, IRExpr *address, UInt size,
                          UInt reason);
void define_exit(IRExpr *guard, IRConst *target, IRJumpKind kind,
                 StackPointer at);
void define_next(IRExpr *target, IRJumpKind kind, StackPointer at);
void define_stack_pointer(UInt origin);
/* The number of this definition's first exit: an old one's if the very same was
   sent before. */
UInt define_end(UInt instructions, UInt exits, UInt slots);

/* ---- syscalls.c, signals.c, startup.c ---- */
void syscalls_init(void);
/* Client code of some thread begins to run. */
void syscalls_count_stretch(void);
/* Memory that was just logged needs no second look when the thread's system call
   is over. */
void syscalls_memory_logged(ThreadId tid, Addr start, SizeT length);
void signals_init(void);
/* The program has, or had, a handler that sees its registers where it faulted. */
extern Bool faults_handled;
/* It changed what a signal does. */
void signals_action_changed(Int number);
/* The signal that is ending the program, or 0. */
extern Int fatal_signal;
void hide_valgrind(ThreadId tid);

#endif
