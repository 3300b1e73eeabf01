/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The stream between recorder and indexer: the shared-memory ring, its chunks,
 * and the records in them. Included by the Valgrind tool (C, no libc) and by
 * the indexer (C++), so only fixed-width integers and no functions.
 * docs/format.md, "The stream", explains every field; the static assertions
 * below keep the two in step.
 *
 *   ring  := header page, chunk * chunk_count
 *   chunk := ch_chunk_header, run area, event area, store area
 */
#ifndef CHRONICLE_TRACE_FORMAT_STREAM_H
#define CHRONICLE_TRACE_FORMAT_STREAM_H

#ifdef __cplusplus
#include <cstdint>
#define CH_STATIC_ASSERT(cond, text) static_assert(cond, text)
typedef std::uint32_t ch_u32;
typedef std::uint64_t ch_u64;
typedef std::int64_t ch_s64;
#else
#define CH_STATIC_ASSERT(cond, text) _Static_assert(cond, text)
typedef unsigned int ch_u32;
typedef unsigned long long ch_u64;
typedef long long ch_s64;
#endif

#define CH_RING_MAGIC 0x474e49524e524843ull /* "CHRNRING" */
/* Bump on any change of this file, Bytecode.h or ReplayOps.def. */
#define CH_STREAM_VERSION 3
#define CH_RING_HEADER_SIZE 4096
#define CH_PAGE_SIZE 4096

/* The guest state is Valgrind 3.19's VexGuestAMD64State, copied whole; the
   offsets that readers use are in GuestState.h. */
#define CH_GUEST_STATE_SIZE 928

/* ---- the ring ---- */

/* Lives at offset 0 of the ring. `published` is written only by the recorder,
   `consumed` and `requests` only by the indexer; each counter sits on a cache
   line of its own. Chunk n is at slot n % chunk_count; the recorder may fill it
   once consumed > n - chunk_count. */
struct ch_ring_header {
  ch_u64 magic;
  ch_u32 version;
  ch_u32 chunk_count;
  ch_u64 chunk_stride; /* bytes from one chunk to the next */
  ch_u32 run_bytes;    /* size of the run area of a chunk */
  ch_u32 event_bytes;  /* size of the event area */
  ch_u64 store_bytes;  /* size of the store area */
  ch_u32 block_instructions;
  ch_u32 reserved0[5];
  ch_u32 published; /* futex: chunks handed over so far */
  ch_u32 recorder_waits;
  ch_u32 reserved1[14];
  ch_u32 consumed; /* futex: chunks given back so far */
  ch_u32 indexer_waits;
  ch_u32 requests; /* CH_REQUEST_* bits, set by the indexer, never cleared */
  ch_u32 reserved2[13];
};
CH_STATIC_ASSERT(sizeof(struct ch_ring_header) == 192, "docs/format.md");

#define CH_REQUEST_LOG_LOADS 1 /* an unreported write was found */
#define CH_REQUEST_STOP 2      /* record no more; the program goes on */

struct ch_chunk_header {
  ch_u32 number;     /* 1 + chunk number, written when the recorder opens it */
  ch_u32 flags;      /* CH_CHUNK_*, valid once published */
  ch_u32 run_words;  /* words used in the run area */
  ch_u32 event_used; /* bytes used in the event area */
  ch_u64 store_used; /* bytes used in the store area */
  ch_u64 reserved[5];
};
CH_STATIC_ASSERT(sizeof(struct ch_chunk_header) == 64, "docs/format.md");

#define CH_CHUNK_BLOCK_END 1 /* the block ends with this chunk */
#define CH_CHUNK_LAST 2      /* nothing follows */

/* ---- the run area: which superblock, and how far it got ---- */

/* One word per execution: the number of the exit that it left by. Exits are
   numbered from 1, superblock by superblock in the order of definition: the
   side exits in program order, then the final one. The recorder writes the word
   ahead: at entry it is the superblock's first exit, and passing an exit makes
   it the next, so that nothing is left to do when an exit is taken. A word is
   never 0: if the recorder dies, the run ends at the first 0. */
#define CH_RUN_EVENT 0xffffffffu /* take the next event record */
/* Added to the number of any exit of a superblock: the superblock was left by a
   fault in the middle. The next run word is an event, a CH_EV_FAULT. */
#define CH_RUN_FAULT 0x80000000u
/* Take the next event record, a CH_EV_LOADED: it belongs into the execution
   whose word comes before this one. */
#define CH_RUN_LOADED 0xfffffffeu
#define CH_MAX_EXIT 0x7ffffffdu
/* The most exits that one superblock may have. */
#define CH_MAX_ORDINAL 254u

/* ---- the store area: slots of 16 bytes ---- */

/* A superblock's slots are allocated together when it is entered, in program
   order, so those after the exit it took hold garbage. What each slot holds is
   static (Bytecode.h):
     store, n <= 8 bytes   {address, value}
     store, n > 8          {address, value[0..8)}, {value[8..24)} ...
     load (when logged)    as a store
     opaque, n <= 16       {value}            n > 16: two slots
     opaque register bytes as an opaque of that size, 16 bytes per slot
     opaque memory         {address, 0}, then the bytes, 16 per slot
     stack pointer         {value}
   Bytes beyond n are garbage. A guarded store that did not happen, a failed
   compare-and-swap and a guarded helper that was not called have the address
   CH_NO_ADDRESS and garbage for bytes. */
#define CH_SLOT_SIZE 16
#define CH_NO_ADDRESS 0xffffffffffffffffull
/* Slots of a memory access of n bytes: address and value. */
#define CH_ACCESS_SLOTS(n) ((n) <= 8 ? 1 : 1 + ((n) - 8 + 15) / 16)
/* Slots of n bytes alone. */
#define CH_VALUE_SLOTS(n) (((n) + 15) / 16)
/* A superblock may use at most this many slots. */
#define CH_MAX_SLOTS 4096
/* Bytes of the store area that an instruction may use on average. A superblock
   that needs more counts as more instructions against the block's budget. */
#define CH_STORE_BYTES_PER_INSTRUCTION 32

/* ---- the event area ---- */

/* Records, 8-aligned. The payload follows the header and is padded to 8. Each
   is announced by a CH_RUN_EVENT word at its place in the run. */
struct ch_event_header {
  ch_u32 kind;
  ch_u32 size; /* of the payload, without padding */
};

/* Memory contents of at least this many bytes are not kept in the block's
   events: they end the block, and are found in the page chunks. */
#define CH_BY_REFERENCE_BYTES 16384
/* Contents are cut into records of at most this many bytes, at page ends. */
#define CH_MEMORY_RECORD_BYTES 65536

enum ch_event_kind {
  CH_EV_DEFINE = 1,         /* ch_ev_define, bytecode */
  CH_EV_OP_NAME = 2,        /* ch_ev_op_name, name: names an opaque reason */
  CH_EV_SNAPSHOT = 3,       /* ch_ev_snapshot, guest state */
  CH_EV_RESUME = 4,         /* ch_ev_thread: this thread runs from here */
  CH_EV_REGISTERS = 5,      /* ch_ev_registers, {offset, value} * count */
  CH_EV_FAULT = 6,          /* ch_ev_fault */
  CH_EV_MEMORY = 7,         /* ch_ev_memory, bytes (none with CH_MEM_ZERO) */
  CH_EV_MAP = 8,            /* ch_ev_map, file name */
  CH_EV_UNMAP = 9,          /* ch_ev_range */
  CH_EV_PROTECT = 10,       /* ch_ev_range */
  CH_EV_SYSCALL_ENTER = 11, /* ch_ev_syscall_enter */
  CH_EV_SYSCALL_EXIT = 12,  /* ch_ev_syscall_exit */
  CH_EV_SIGNAL = 13,        /* ch_ev_signal */
  CH_EV_SIGNAL_RETURN = 14, /* ch_ev_thread */
  CH_EV_THREAD_START = 15,  /* ch_ev_thread_start */
  CH_EV_THREAD_EXIT = 16,   /* ch_ev_thread */
  CH_EV_OUTPUT = 17,        /* ch_ev_output, bytes */
  CH_EV_AUDIT = 18,         /* ch_ev_range, bytes: never in the database */
  CH_EV_OUTSIDE_WRITE =
      19,               /* ch_ev_outside_write, bytes: made by the indexer */
  CH_EV_LOG_LOADS = 20, /* ch_ev_log_loads: load logging is on from here */
  CH_EV_END = 21,       /* ch_ev_end */
  /* ch_ev_stored, pages. The database has it only without pages: then the
     recorder never sent what the stores of this block changed, and only replay
     can compute it. */
  CH_EV_STORED = 22,
  CH_EV_LOADED = 23, /* ch_ev_loaded, bytes: never in the database */
};

struct ch_ev_define {
  ch_u32 id; /* from 1, one after the other */
  ch_u32 first_exit;
};

struct ch_ev_op_name {
  ch_u32 reason;
  ch_u32 reserved;
};

/* Threads are numbered 1, 2, ... in order of creation, never reused. */
struct ch_ev_snapshot {
  ch_u32 thread;
  ch_u32 reserved;
};

struct ch_ev_thread {
  ch_u32 thread;
  ch_u32 reserved;
};

/* Guest-state words that Valgrind's core changed while no client code ran. */
struct ch_ev_registers {
  ch_u32 thread;
  ch_u32 count; /* of {ch_u64 offset, ch_u64 value} that follow */
};

/* The superblock of the previous run word stopped before the instruction at
   rip was complete. */
struct ch_ev_fault {
  ch_u32 thread;
  ch_u32 reserved;
  ch_u64 rip;
};

enum ch_memory_source {
  CH_MEM_STARTUP = 1, /* the image the program starts with */
  CH_MEM_MAPPED = 2,  /* contents of a new mapping */
  CH_MEM_SYSCALL = 3, /* the kernel wrote it for a system call */
  CH_MEM_SIGNAL = 4,  /* a signal frame */
  CH_MEM_THREAD = 5,  /* thread start or exit (clear_child_tid ...) */
  CH_MEM_CORE = 6,    /* Valgrind's core on the program's behalf */
};
#define CH_MEM_ZERO 1         /* all bytes are zero, none follow */
#define CH_MEM_BY_REFERENCE 2 /* see CH_BY_REFERENCE_BYTES */

struct ch_ev_memory {
  ch_u64 address;
  ch_u64 length;
  ch_u32 thread; /* 0: none */
  ch_u32 source; /* ch_memory_source */
  ch_u32 flags;
  ch_u32 reserved;
};

#define CH_PROT_READ 1
#define CH_PROT_WRITE 2
#define CH_PROT_EXEC 4

#define CH_MAP_FILE 1 /* name, device, inode and offset are meaningful */
#define CH_MAP_SHARED                                                          \
  2 /* object and offset are: one image however often mapped */
#define CH_MAP_STACK 4    /* the main thread's stack */
#define CH_MAP_HEAP 8     /* the brk area */
#define CH_MAP_STARTUP 16 /* was there before the first instruction */

/* A new mapping, which replaces what was there before. Its bytes are zero, or
   come in the CH_EV_MEMORY records that follow, or, for a shared object seen
   before, are the object's. */
struct ch_ev_map {
  ch_u64 address;
  ch_u64 length;
  ch_u64 offset;
  ch_u64 device;
  ch_u64 inode;
  ch_u32 protection;
  ch_u32 flags;
  ch_u32 object; /* shared: number of the object, from 1; else 0 */
  ch_u32 thread;
};

struct ch_ev_range {
  ch_u64 address;
  ch_u64 length;
  ch_u32 protection; /* PROTECT only */
  ch_u32 thread;
};

struct ch_ev_syscall_enter {
  ch_u32 thread;
  ch_u32 number;
  ch_u64 arguments[6];
};

struct ch_ev_syscall_exit {
  ch_u32 thread;
  ch_u32 number;
  ch_s64 result; /* -errno on failure */
};

#define CH_SIG_FATAL 1     /* ends the program */
#define CH_SIG_ALT_STACK 2 /* the handler runs on the alternate stack */
#define CH_SIG_SYNCHRONOUS 4

struct ch_ev_signal {
  ch_u32 thread;
  ch_u32 number;
  ch_u32 flags;
  ch_u32 code;    /* si_code */
  ch_u64 address; /* si_addr of SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP */
  ch_u64 sender;  /* si_pid otherwise */
};

struct ch_ev_thread_start {
  ch_u32 thread;
  ch_u32 parent;    /* 0 for the first */
  ch_u64 os_thread; /* the kernel's number */
};

struct ch_ev_output {
  ch_u32 thread;
  ch_u32 descriptor;
};

/* Memory was found to differ from what all records say. */
struct ch_ev_outside_write {
  ch_u64 address;
  ch_u32 length;
  ch_u32 found_by;    /* ch_outside_finder */
  ch_u32 instruction; /* of the superblock that follows; by load only */
  ch_u32 flags;
};
enum ch_outside_finder { CH_FOUND_BY_LOAD = 1, CH_FOUND_BY_AUDIT = 2 };
/* The compare-and-swap of the instruction found the write; what the instruction
   loaded before was still the old value. */
#define CH_OUTSIDE_BEFORE_SWAP 1

/* A load of watched memory gave other bytes than the trace had until then. The
   load is one of the instruction at `rip`, in the execution whose run word is
   the last before the CH_RUN_LOADED. */
struct ch_ev_loaded {
  ch_u64 address;
  ch_u32 length;
  ch_u32 flags;
  ch_u64 rip;
};
#define CH_LOADED_BY_SWAP 1

/* What the program's stores changed, where superblocks do not log them
   (CH_DEF_MARKS_STORES): pages := (ch_stored_page, 8 bytes per granule)*. Sent
   at the end of a block at the latest, and before the memory map changes there.
 */
struct ch_ev_stored {
  ch_u32 flags;
  ch_u32 reserved;
};
#define CH_STORED_ALL 1 /* everything stored up to here has been sent */
struct ch_stored_page {
  ch_u64 address;
  ch_u64 granules[CH_PAGE_SIZE / 8 / 64]; /* one bit per granule that follows */
};

struct ch_ev_log_loads {
  ch_u32 reason; /* ch_log_loads_reason */
  ch_u32 reserved;
};
enum ch_log_loads_reason {
  CH_LOADS_ASKED = 1,
  CH_LOADS_SHARED_MEMORY = 2,
  CH_LOADS_UNREPORTED_WRITE = 3,
  CH_LOADS_WATCHED = 4, /* only those of mappings that others can change */
};

enum ch_end_reason {
  CH_END_EXIT = 1,    /* code is the exit status */
  CH_END_SIGNAL = 2,  /* code is the signal */
  CH_END_EXEC = 3,    /* replaced itself by another program */
  CH_END_KILLED = 4,  /* the recorder died; the indexer makes this event */
  CH_END_STOPPED = 5, /* the recording was ended, not the program */
  CH_END_LIMIT = 6,   /* too many superblocks */
};
struct ch_ev_end {
  ch_u32 reason;
  ch_u32 code;
};

#endif
