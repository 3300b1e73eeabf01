// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/events/EventNames.h"
#include "trace-format/Bytecode.h"
#include "trace-format/events/Events.h"

using namespace llvm;

namespace chronicle::events {

namespace {
struct KindInfo {
  const char *Name;
  unsigned Size;
};
} // namespace

static constexpr KindInfo Kinds[EventKindCount] = {
    {"unknown", 0},
    {"define", DefineEvent::MinSize},
    {"op-name", OpNameEvent::MinSize},
    {"snapshot", SnapshotEvent::MinSize},
    {"resume", ResumeEvent::MinSize},
    {"registers", RegistersEvent::MinSize},
    {"fault", FaultEvent::MinSize},
    {"memory", MemoryEvent::MinSize},
    {"map", MapEvent::MinSize},
    {"unmap", UnmapEvent::MinSize},
    {"protect", ProtectEvent::MinSize},
    {"syscall-enter", SyscallEnterEvent::MinSize},
    {"syscall-exit", SyscallExitEvent::MinSize},
    {"signal", SignalEvent::MinSize},
    {"signal-return", SignalReturnEvent::MinSize},
    {"thread-start", ThreadStartEvent::MinSize},
    {"thread-exit", ThreadExitEvent::MinSize},
    {"output", OutputEvent::MinSize},
    {"audit", AuditEvent::MinSize},
    {"outside-write", OutsideWriteEvent::MinSize},
    {"log-loads", LogLoadsEvent::MinSize},
    {"end", EndEvent::MinSize},
    {"stored", StoredEvent::MinSize},
    {"loaded", LoadedEvent::MinSize},
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

} // namespace chronicle::events
