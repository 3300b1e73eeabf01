/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/events/core_writes.h"
#include "recorder/tool/memory/call_targets.h"
#include "recorder/tool/memory/contents.h"
#include "recorder/tool/stream/recording.h"

static void core_will_write(CorePart part, ThreadId tid, const HChar *what,
                            Addr address, SizeT length) {
  if (ch_recording && length && part == Vg_CoreSysCall)
    ch_call_targets_add(tid, address, address + length, CH_TARGET_REPORTED);
}

static void core_wrote(CorePart part, ThreadId tid, Addr address,
                       SizeT length) {
  /* Signal frames are logged whole (signals.c), and what the core writes before
     the start is part of the memory that the program starts with. */
  if (!ch_recording || !length || part == Vg_CoreSignal ||
      part == Vg_CoreStartup || !ch_started)
    return;
  ch_contents_log(address, length,
                  part == Vg_CoreSysCall ? CH_MEM_SYSCALL : CH_MEM_CORE, tid,
                  True);
}

static void core_wrote_register(CorePart part, ThreadId tid, PtrdiffT offset,
                                Addr address, SizeT length) {
  core_wrote(part, tid, address, length);
}

void ch_core_writes_init(void) {
  VG_(track_pre_mem_write)(core_will_write);
  VG_(track_post_mem_write)(core_wrote);
  VG_(track_copy_reg_to_mem)(core_wrote_register);
}
