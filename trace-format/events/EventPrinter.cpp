// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/events/EventPrinter.h"
#include "trace-format/GuestNames.h"
#include "trace-format/GuestState.h"
#include "trace-format/events/EventNames.h"
#include "trace-format/events/Events.h"
#include "llvm/Support/Format.h"

using namespace llvm;

namespace chronicle::events {

static void printBytes(raw_ostream &Out, ArrayRef<uint8_t> Bytes) {
  constexpr size_t Shown = 32;
  Out << ' ' << toHex(Bytes.take_front(Shown), /*LowerCase=*/true);
  if (Bytes.size() > Shown)
    Out << "... (" << Bytes.size() << " bytes)";
}

static void printRegister(raw_ostream &Out, unsigned Offset, uint64_t Value) {
  Out << ' ' << guestName(Offset) << '=' << format_hex_no_prefix(Value, 1);
}

static void printRange(raw_ostream &Out, uint64_t Address, uint64_t Length) {
  Out << ' ' << format_hex(Address, 1) << " + " << format_hex(Length, 1);
}

static void printProtection(raw_ostream &Out, uint32_t P) {
  Out << ' ' << (P & CH_PROT_READ ? 'r' : '-')
      << (P & CH_PROT_WRITE ? 'w' : '-') << (P & CH_PROT_EXEC ? 'x' : '-');
}

/// Events that say nothing but which thread they are about.
static void print(raw_ostream &Out, const ch_ev_thread &E) {
  Out << " thread " << E.thread;
}

static void print(raw_ostream &Out, const SnapshotEvent &E) {
  Out << " thread " << E.thread;
  for (unsigned Offset = CH_OFFSET_RAX; Offset <= CH_OFFSET_RIP; Offset += 8)
    printRegister(Out, Offset, E.word(Offset));
}

static void print(raw_ostream &Out, const RegistersEvent &E) {
  Out << " thread " << E.thread;
  for (uint32_t N = 0; N < E.count; ++N)
    printRegister(Out, unsigned(E.change(N).Offset), E.change(N).Value);
}

static void print(raw_ostream &Out, const FaultEvent &E) {
  Out << " thread " << E.thread << " at " << format_hex(E.rip, 1);
}

static void print(raw_ostream &Out, const MemoryEvent &E) {
  static constexpr const char *Sources[] = {
      "?", "startup", "mapped", "syscall", "signal", "thread", "core"};
  Out << " thread " << E.thread;
  printRange(Out, E.address, E.length);
  Out << ' ' << Sources[E.source < std::size(Sources) ? E.source : 0];
  if (E.flags & CH_MEM_ZERO)
    Out << " zero";
  else if (E.flags & CH_MEM_BY_REFERENCE)
    Out << " by reference";
  else
    printBytes(Out, E.Rest);
}

static void print(raw_ostream &Out, const MapEvent &E) {
  Out << " thread " << E.thread;
  printRange(Out, E.address, E.length);
  printProtection(Out, E.protection);
  static constexpr std::pair<uint32_t, const char *> Flags[] = {
      {CH_MAP_FILE, " file"},
      {CH_MAP_SHARED, " shared"},
      {CH_MAP_STACK, " stack"},
      {CH_MAP_HEAP, " heap"},
      {CH_MAP_STARTUP, " startup"}};
  for (auto [Bit, Name] : Flags)
    if (E.flags & Bit)
      Out << Name;
  if (E.flags & (CH_MAP_FILE | CH_MAP_SHARED))
    Out << " offset " << format_hex(E.offset, 1);
  if (E.flags & CH_MAP_FILE)
    Out << " device " << format_hex(E.device, 1) << " inode " << E.inode;
  if (E.flags & CH_MAP_SHARED)
    Out << " object " << E.object;
  if (!E.Rest.empty()) {
    Out << ' ';
    printEscapedString(E.path(), Out);
  }
}

static void print(raw_ostream &Out, const UnmapEvent &E) {
  Out << " thread " << E.thread;
  printRange(Out, E.address, E.length);
}

static void print(raw_ostream &Out, const ProtectEvent &E) {
  Out << " thread " << E.thread;
  printRange(Out, E.address, E.length);
  printProtection(Out, E.protection);
}

static void print(raw_ostream &Out, const SyscallEnterEvent &E) {
  Out << " thread " << E.thread << " number " << E.number << '(';
  for (unsigned N = 0; N < std::size(E.arguments); ++N)
    Out << (N ? ", " : "") << format_hex(E.arguments[N], 1);
  Out << ')';
}

static void print(raw_ostream &Out, const SyscallExitEvent &E) {
  Out << " thread " << E.thread << " number " << E.number << " = " << E.result;
}

static void print(raw_ostream &Out, const SignalEvent &E) {
  Out << " thread " << E.thread << " number " << E.number << " code "
      << int32_t(E.code) << " address " << format_hex(E.address, 1)
      << " sender " << E.sender;
  if (E.flags & CH_SIG_FATAL)
    Out << " fatal";
  if (E.flags & CH_SIG_ALT_STACK)
    Out << " on the alternate stack";
  if (E.flags & CH_SIG_SYNCHRONOUS)
    Out << " synchronous";
}

static void print(raw_ostream &Out, const ThreadStartEvent &E) {
  Out << " thread " << E.thread << " parent " << E.parent << " os "
      << E.os_thread;
}

static void print(raw_ostream &Out, const OutputEvent &E) {
  constexpr size_t Shown = 64;
  Out << " thread " << E.thread << " descriptor " << E.descriptor << " \"";
  printEscapedString(E.text().take_front(Shown), Out);
  Out << '"';
  if (E.text().size() > Shown)
    Out << "... (" << E.text().size() << " bytes)";
}

static void print(raw_ostream &Out, const OutsideWriteEvent &E) {
  printRange(Out, E.address, E.length);
  if (E.found_by == CH_FOUND_BY_LOAD)
    Out << " found by the "
        << (E.flags & CH_OUTSIDE_BEFORE_SWAP ? "compare-and-swap" : "load")
        << " of instruction " << E.instruction;
  else
    Out << " found by an audit";
  printBytes(Out, E.Rest);
}

static void print(raw_ostream &Out, const LogLoadsEvent &E) {
  static constexpr const char *Reasons[] = {"?", "asked for", "shared memory",
                                            "an unreported write",
                                            "mappings that others can change"};
  Out << " because of "
      << Reasons[E.reason < std::size(Reasons) ? E.reason : 0];
}

static void print(raw_ostream &Out, const EndEvent &E) {
  Out << ' ' << endReasonName(E.reason) << ' ' << E.code;
}

/// Prints the payload as the first of the types that it can be decoded as.
template <typename... Types>
static bool printAs(raw_ostream &Out, uint32_t Kind,
                    ArrayRef<uint8_t> Payload) {
  auto Try = [&](const auto &E) {
    if (E)
      print(Out, *E);
    return E.has_value();
  };
  return (Try(Types::decode(Kind, Payload)) || ...);
}

template <typename... Types> static bool isAny(uint32_t Kind) {
  return (Types::isKind(Kind) || ...);
}

template <typename... Types>
static void printEventOf(raw_ostream &Out, uint32_t Kind,
                         ArrayRef<uint8_t> Payload) {
  if (printAs<Types...>(Out, Kind, Payload))
    return;
  if (isAny<Types...>(Kind) || Payload.size() < eventFixedSize(Kind))
    Out << " (cut off)";
  else
    printBytes(Out, Payload);
}

void printEvent(raw_ostream &Out, uint32_t Kind, ArrayRef<uint8_t> Payload) {
  Out << eventKindName(Kind);
  printEventOf<SnapshotEvent, ResumeEvent, RegistersEvent, FaultEvent,
               MemoryEvent, MapEvent, UnmapEvent, ProtectEvent,
               SyscallEnterEvent, SyscallExitEvent, SignalEvent,
               SignalReturnEvent, ThreadStartEvent, ThreadExitEvent,
               OutputEvent, OutsideWriteEvent, LogLoadsEvent, EndEvent>(
      Out, Kind, Payload);
}

} // namespace chronicle::events
