// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The events of a trace as typed values: a fixed record of Stream.h and the
/// bytes that follow it. Every reader of payloads decodes them here:
///
///   if (auto Signal = E.as<events::SignalEvent>())
///     use(Signal->number);
///
/// Decoding copies the fixed record, at most 64 bytes, because payloads are not
/// aligned. A payload of another kind gives nothing, and so does one that no
/// recorder writes: one that is too short, a range that goes beyond the address
/// space, a thread or a shared object with an impossible number. A trace may
/// come from a stranger, and the recorded program can write to the stream.

#ifndef CHRONICLE_TRACE_FORMAT_EVENTS_EVENTS_H
#define CHRONICLE_TRACE_FORMAT_EVENTS_EVENTS_H

#include "trace-format/Stream.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Endian.h"
#include <cstring>
#include <optional>

namespace chronicle::events {

/// Threads and shared objects are numbered from 1 by the recorder. Tables that
/// are indexed by them, and numbers of frames, rely on these limits.
constexpr uint32_t ThreadEnd = uint32_t(1) << 31;
constexpr uint32_t SharedObjectEnd = uint32_t(1) << 25;

/// Whether a range, which may be empty, is within the address space.
constexpr bool isRange(uint64_t Address, uint64_t Length) {
  return Length == 0 || Length - 1 <= UINT64_MAX - Address;
}

/// The base of all typed events. Derived may have a larger MinSize, and a
/// complete() that says whether Rest holds what the record promises.
template <typename Derived, typename RecordType, uint32_t... Kinds>
struct TypedEvent : RecordType {
  using Record = RecordType;
  static constexpr size_t MinSize = sizeof(Record);
  static constexpr bool isKind(uint32_t Kind) {
    return ((Kind == Kinds) || ...);
  }
  bool complete() const { return true; }

  static std::optional<Derived> decode(uint32_t Kind,
                                       llvm::ArrayRef<uint8_t> Payload) {
    if (!isKind(Kind) || Payload.size() < Derived::MinSize)
      return std::nullopt;
    Derived E;
    std::memcpy(static_cast<Record *>(&E), Payload.data(), sizeof(Record));
    E.Rest = Payload.drop_front(sizeof(Record));
    if constexpr (requires { E.thread; })
      if (E.thread >= ThreadEnd)
        return std::nullopt;
    if constexpr (requires { E.address, E.length; })
      if (!isRange(E.address, E.length))
        return std::nullopt;
    if (!E.complete())
      return std::nullopt;
    return E;
  }

  /// What follows the record; points into the payload.
  llvm::ArrayRef<uint8_t> Rest;
};

struct DefineEvent : TypedEvent<DefineEvent, ch_ev_define, CH_EV_DEFINE> {
  llvm::ArrayRef<uint8_t> definition() const { return Rest; }
};

struct OpNameEvent : TypedEvent<OpNameEvent, ch_ev_op_name, CH_EV_OP_NAME> {
  llvm::ArrayRef<uint8_t> name() const { return Rest; }
};

struct SnapshotEvent
    : TypedEvent<SnapshotEvent, ch_ev_snapshot, CH_EV_SNAPSHOT> {
  static constexpr size_t MinSize = sizeof(Record) + CH_GUEST_STATE_SIZE;
  /// CH_GUEST_STATE_SIZE bytes.
  const uint8_t *state() const { return Rest.data(); }
  uint64_t word(unsigned Offset) const {
    return llvm::support::endian::read64le(state() + Offset);
  }
};

struct ResumeEvent : TypedEvent<ResumeEvent, ch_ev_thread, CH_EV_RESUME> {};

struct RegistersEvent
    : TypedEvent<RegistersEvent, ch_ev_registers, CH_EV_REGISTERS> {
  static constexpr size_t ChangeSize = 16;
  struct Change {
    uint64_t Offset, Value;
  };
  bool complete() const { return Rest.size() / ChangeSize >= count; }
  /// Change N of `count`.
  Change change(size_t N) const {
    const uint8_t *At = Rest.data() + N * ChangeSize;
    return {llvm::support::endian::read64le(At),
            llvm::support::endian::read64le(At + 8)};
  }
};

struct FaultEvent : TypedEvent<FaultEvent, ch_ev_fault, CH_EV_FAULT> {};

struct MemoryEvent : TypedEvent<MemoryEvent, ch_ev_memory, CH_EV_MEMORY> {
  /// The contents; nothing if the payload does not have all of them. In a file
  /// that is as it should be with CH_MEM_ZERO and CH_MEM_BY_REFERENCE.
  std::optional<llvm::ArrayRef<uint8_t>> bytes() const {
    if (Rest.size() < length)
      return std::nullopt;
    return Rest.take_front(length);
  }
};

struct MapEvent : TypedEvent<MapEvent, ch_ev_map, CH_EV_MAP> {
  bool complete() const { return object < SharedObjectEnd; }
  bool isShared() const { return flags & CH_MAP_SHARED; }
  llvm::StringRef path() const { return llvm::toStringRef(Rest).rtrim('\0'); }
};

struct UnmapEvent : TypedEvent<UnmapEvent, ch_ev_range, CH_EV_UNMAP> {};
struct ProtectEvent : TypedEvent<ProtectEvent, ch_ev_range, CH_EV_PROTECT> {};

struct SyscallEnterEvent
    : TypedEvent<SyscallEnterEvent, ch_ev_syscall_enter, CH_EV_SYSCALL_ENTER> {
};

struct SyscallExitEvent
    : TypedEvent<SyscallExitEvent, ch_ev_syscall_exit, CH_EV_SYSCALL_EXIT> {};

struct SignalEvent : TypedEvent<SignalEvent, ch_ev_signal, CH_EV_SIGNAL> {};

struct SignalReturnEvent
    : TypedEvent<SignalReturnEvent, ch_ev_thread, CH_EV_SIGNAL_RETURN> {};

struct ThreadStartEvent
    : TypedEvent<ThreadStartEvent, ch_ev_thread_start, CH_EV_THREAD_START> {};

struct ThreadExitEvent
    : TypedEvent<ThreadExitEvent, ch_ev_thread, CH_EV_THREAD_EXIT> {};

struct OutputEvent : TypedEvent<OutputEvent, ch_ev_output, CH_EV_OUTPUT> {
  llvm::ArrayRef<uint8_t> bytes() const { return Rest; }
  llvm::StringRef text() const { return llvm::toStringRef(Rest); }
};

struct AuditEvent : TypedEvent<AuditEvent, ch_ev_range, CH_EV_AUDIT> {
  /// What the recorder found; nothing if it is cut off.
  std::optional<llvm::ArrayRef<uint8_t>> bytes() const {
    if (Rest.size() < length)
      return std::nullopt;
    return Rest.take_front(length);
  }
};

struct OutsideWriteEvent
    : TypedEvent<OutsideWriteEvent, ch_ev_outside_write, CH_EV_OUTSIDE_WRITE> {
  bool complete() const { return Rest.size() >= length; }
  llvm::ArrayRef<uint8_t> bytes() const { return Rest.take_front(length); }
};

struct LoadedEvent : TypedEvent<LoadedEvent, ch_ev_loaded, CH_EV_LOADED> {
  bool complete() const { return Rest.size() >= length; }
  llvm::ArrayRef<uint8_t> bytes() const { return Rest.take_front(length); }
};

struct LogLoadsEvent
    : TypedEvent<LogLoadsEvent, ch_ev_log_loads, CH_EV_LOG_LOADS> {};

struct EndEvent : TypedEvent<EndEvent, ch_ev_end, CH_EV_END> {};

struct StoredEvent : TypedEvent<StoredEvent, ch_ev_stored, CH_EV_STORED> {
  llvm::ArrayRef<uint8_t> pages() const { return Rest; }
};

/// Whether a payload of one of these kinds can be decoded; true for others.
template <typename... Typed>
bool decodes(uint32_t Kind, llvm::ArrayRef<uint8_t> Payload) {
  return ((!Typed::isKind(Kind) || Typed::decode(Kind, Payload)) && ...);
}

/// Whether an event's payload is one that a recorder writes.
inline bool isSound(uint32_t Kind, llvm::ArrayRef<uint8_t> Payload) {
  return decodes<DefineEvent, OpNameEvent, SnapshotEvent, ResumeEvent,
                 RegistersEvent, FaultEvent, MemoryEvent, MapEvent, UnmapEvent,
                 ProtectEvent, SyscallEnterEvent, SyscallExitEvent, SignalEvent,
                 SignalReturnEvent, ThreadStartEvent, ThreadExitEvent,
                 OutputEvent, AuditEvent, OutsideWriteEvent, LoadedEvent,
                 LogLoadsEvent, EndEvent, StoredEvent>(Kind, Payload);
}

} // namespace chronicle::events

#endif
