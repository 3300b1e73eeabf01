/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every file of the tool includes: Valgrind's tool interface, the formats
 * of the trace, and the parts of Valgrind's core that the tool uses.
 *
 * All of the tool runs under Valgrind's big lock, so it needs no locks of its
 * own.
 */
#ifndef CHRONICLE_RECORDER_TOOL_CORE_VALGRIND_CORE_H
#define CHRONICLE_RECORDER_TOOL_CORE_VALGRIND_CORE_H

/* This one comes first because the others need its types. */
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
#include "pub_tool_xarray.h"

#include "trace-format/Bytecode.h"
#include "trace-format/GuestState.h"
#include "trace-format/Stream.h"
#include "trace-format/Translations.h"

/* Functions of the core that its tool interface does not declare, but that the
   tool is linked with. These are the declarations of Valgrind 3.19. */
extern SysRes VG_(do_syscall)(UWord number, UWord, UWord, UWord, UWord, UWord,
                              UWord, UWord, UWord);
extern SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT length, UInt prot,
                                                      Int fd, Off64T offset);
extern SysRes VG_(am_mmap_file_float_valgrind)(SizeT length, UInt prot, Int fd,
                                               Off64T offset);
extern SysRes VG_(am_mmap_anon_float_valgrind)(SizeT length);
extern SysRes VG_(am_munmap_valgrind)(Addr start, SizeT length);
extern Long VG_(fsize)(Int fd);
extern Int VG_(safe_fd)(Int fd);
extern Int VG_(fcntl)(Int fd, Int command, Addr argument);
extern void VG_(atfork)(void (*pre)(ThreadId), void (*parent)(ThreadId),
                        void (*child)(ThreadId));
extern SysRes VG_(do_sys_sigaction)(Int number,
                                    const vki_sigaction_toK_t *action,
                                    vki_sigaction_fromK_t *before);
extern Addr VG_(get_FP)(ThreadId tid);
extern Int VG_(sigemptyset)(vki_sigset_t *set);
extern Int VG_(sigaddset)(vki_sigset_t *set, Int number);
extern void VG_(discard_translations)(Addr start, ULong length,
                                      const HChar *who);
extern Bool VG_(in_generated_code);
extern const HChar *VG_(args_the_exename);
extern XArray *VG_(args_for_valgrind);
extern XArray *VG_(args_for_client);
extern HChar *VG_(name_of_launcher);
extern Int VG_(cl_cmdline_fd);
extern Int VG_(fd_soft_limit);
extern Int VG_(fd_hard_limit);
extern Int VG_(kill)(Int process, Int signal);
extern struct ch_output_sink {
  Int fd;
  Bool is_socket;
  struct vki_sockaddr_un *address;
} VG_(log_output_sink);
extern UInt VG_(clo_smc_check);
#define CH_SMC_CHECK_ALL 2 /* enum VgSmc */

/* How the core calls what it does before a system call. CH_BEFORE_CALL begins a
   function that is called instead, if CMakeLists.txt names it to the linker;
   CH_REAL_CALL in it calls the core's own. */
struct ch_call {
  Word number;
  UWord arguments[8];
};
struct ch_call_status {
  /* The kernel does not see a call that is complete. */
  enum { CH_STATUS_COMPLETE = 1, CH_STATUS_HAND_TO_KERNEL } what;
  SysRes result;
};
/* Flags. A call that is complete must have neither. */
#define CH_MAY_BLOCK 2     /* other threads may run meanwhile */
#define CH_REPORT_FAILED 4 /* the call may have written although it failed */
#define CH_BEFORE_CALL(name)                                                   \
  extern void __real_vgSysWrap_##name##_before(                                \
      ThreadId, const void *, struct ch_call *, struct ch_call_status *,       \
      UWord *);                                                                \
  void __wrap_vgSysWrap_##name##_before(                                       \
      ThreadId tid, const void *layout, struct ch_call *call,                  \
      struct ch_call_status *status, UWord *flags)
#define CH_REAL_CALL(name)                                                     \
  __real_vgSysWrap_##name##_before(tid, layout, call, status, flags)

/* Valgrind translates and instruments every superblock again before it runs
   the next time. No client code may be running. */
static inline void ch_discard_all_translations(void) {
  VG_(discard_translations)(0, ~0ull, "chronicle");
}

#endif
