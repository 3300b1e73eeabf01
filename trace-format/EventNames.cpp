// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/EventNames.h"
#include "trace-format/Bytecode.h"

using namespace llvm;

namespace chronicle {

namespace {
struct KindInfo {
  const char *Name;
  unsigned Size;
};
} // namespace

static constexpr KindInfo Kinds[EventKindCount] = {
    {"unknown", 0},
    {"define", sizeof(ch_ev_define)},
    {"op-name", sizeof(ch_ev_op_name)},
    {"snapshot", sizeof(ch_ev_snapshot) + CH_GUEST_STATE_SIZE},
    {"resume", sizeof(ch_ev_thread)},
    {"registers", sizeof(ch_ev_registers)},
    {"fault", sizeof(ch_ev_fault)},
    {"memory", sizeof(ch_ev_memory)},
    {"map", sizeof(ch_ev_map)},
    {"unmap", sizeof(ch_ev_range)},
    {"protect", sizeof(ch_ev_range)},
    {"syscall-enter", sizeof(ch_ev_syscall_enter)},
    {"syscall-exit", sizeof(ch_ev_syscall_exit)},
    {"signal", sizeof(ch_ev_signal)},
    {"signal-return", sizeof(ch_ev_thread)},
    {"thread-start", sizeof(ch_ev_thread_start)},
    {"thread-exit", sizeof(ch_ev_thread)},
    {"output", sizeof(ch_ev_output)},
    {"audit", sizeof(ch_ev_range)},
    {"outside-write", sizeof(ch_ev_outside_write)},
    {"log-loads", sizeof(ch_ev_log_loads)},
    {"end", sizeof(ch_ev_end)},
    {"stored", sizeof(ch_ev_stored)},
};

StringRef eventKindName(uint32_t Kind) {
  return Kinds[Kind < EventKindCount ? Kind : 0].Name;
}
unsigned eventFixedSize(uint32_t Kind) {
  return Kinds[Kind < EventKindCount ? Kind : 0].Size;
}

StringRef endReasonName(uint32_t Reason) {
  switch (Reason) {
  case CH_END_EXIT:
    return "exit";
  case CH_END_SIGNAL:
    return "signal";
  case CH_END_EXEC:
    return "exec";
  case CH_END_KILLED:
    return "killed";
  case CH_END_STOPPED:
    return "stopped";
  case CH_END_LIMIT:
    return "limit";
  }
  return "unknown";
}

StringRef fixedReasonName(uint32_t Reason) {
  switch (Reason) {
  case CH_REASON_HELPER:
    return "helper";
  case CH_REASON_CALL:
    return "call";
  case CH_REASON_OTHER:
    return "other";
  }
  return "";
}

} // namespace chronicle
