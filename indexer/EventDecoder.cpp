// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "indexer/EventDecoder.h"
#include "trace-format/Control.h"
#include "trace-format/Translations.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <cinttypes>
#include <csignal>
#include <cstring>

using namespace llvm;

namespace chronicle::indexer {

/// Reasons are VEX operations: a few thousand at most.
static constexpr uint32_t MaxReason = 1 << 16;

/// System call numbers of Linux on x86-64, which the recorded program uses even
/// if the indexer should run on another machine.
static constexpr uint32_t ExecveNumber = 59, ExecveatNumber = 322;

template <typename T> static ArrayRef<uint8_t> bytesOf(const T &Value) {
  return ArrayRef(reinterpret_cast<const uint8_t *>(&Value), sizeof(T));
}

Expected<EventRecord> EventRecord::take(ArrayRef<uint8_t> &Area) {
  ch_event_header H;
  if (Area.size() < sizeof(H))
    return createStringError("run word names an event, but none is left");
  std::memcpy(&H, Area.data(), sizeof(H));
  Area = Area.drop_front(sizeof(H));
  const bool Known = (H.kind && H.kind < events::EventKindCount) ||
                     H.kind == CH_EV_TRANSLATION ||
                     (H.kind == CH_EV_FORK && H.size == sizeof(ch_ev_fork));
  if (!Known || H.size < events::eventFixedSize(H.kind) ||
      H.size > Area.size() || !events::isSound(H.kind, Area.take_front(H.size)))
    return createStringError("invalid event of kind %u with %u bytes",
                             unsigned(H.kind), unsigned(H.size));
  EventRecord Record{H.kind, Area.take_front(H.size)};
  Area = Area.drop_front(std::min<size_t>(alignTo(H.size, 8), Area.size()));
  return Record;
}

void EventDecoder::add(uint32_t Kind, ArrayRef<uint8_t> Payload,
                       ArrayRef<uint8_t> More) {
  addAt(Block.Executions, Kind, Payload, More);
}

void EventDecoder::addAt(uint64_t Execution, uint32_t Kind,
                         ArrayRef<uint8_t> Payload, ArrayRef<uint8_t> More) {
  Block.Events.add(Execution, Kind, Payload, More);
  Calls.event(Kind, Payload, Block.now());
  ++Counts.Events;
  ++Counts.EventsByKind[Kind];
}

void EventDecoder::outsideWrite(uint64_t Address, ArrayRef<uint8_t> Bytes,
                                ch_outside_finder FoundBy, uint32_t Instruction,
                                uint32_t Flags) {
  ch_ev_outside_write Event = {};
  Event.address = Address;
  Event.length = uint32_t(Bytes.size());
  Event.found_by = FoundBy;
  Event.instruction = Instruction;
  Event.flags = Flags;
  add(CH_EV_OUTSIDE_WRITE, bytesOf(Event), Bytes);
  Image.write(Address, Bytes.data(), Bytes.size());
  // Other processes may write shared memory without a report.
  if (FoundBy == CH_FOUND_BY_LOAD || Image.isShared(Address))
    ++Counts.OutsideWrites;
  else
    ++Counts.UnreportedWrites;
}

Error EventDecoder::loaded(const EventRecord &Record, uint64_t Execution,
                           uint32_t Superblock) {
  auto E = events::LoadedEvent::decode(Record.Kind, Record.Payload);
  if (!E)
    return createStringError("invalid record of a load of watched memory");
  std::optional<SuperblockTable::FaultPoint> Point =
      Superblocks.faultPoint(Superblock, E->rip);
  if (!Point)
    return createStringError("superblock %u has no instruction at 0x%" PRIx64
                             ", where watched memory was loaded",
                             Superblock, uint64_t(E->rip));
  ch_ev_outside_write Event = {};
  Event.address = E->address;
  Event.length = E->length;
  Event.found_by = CH_FOUND_BY_LOAD;
  Event.instruction = Point->Instructions;
  Event.flags = E->flags & CH_LOADED_BY_SWAP ? CH_OUTSIDE_BEFORE_SWAP : 0;
  addAt(Execution, CH_EV_OUTSIDE_WRITE, bytesOf(Event), E->bytes());
  Image.write(E->address, E->bytes().data(), E->length);
  ++Counts.OutsideWrites;
  return Error::success();
}

void EventDecoder::endBlock() {
  // If the recorder died before it sent what the block's stores changed, the
  // page chunks do not have it, and readers must know.
  if (Superblocks.someMarkStores() && Block.SentExecutions != Block.Executions)
    add(CH_EV_STORED, bytesOf(ch_ev_stored()));
  Modules.look(Image);
}

Error EventDecoder::define(const events::DefineEvent &E) {
  uint32_t Id = E.id, First = E.first_exit;
  if (Exits.differ()) {
    if (First != Exits.next())
      return createStringError("superblock %u is defined out of order", Id);
    Id = Superblocks.count() + 1;
    First = Superblocks.exitCount() + 1;
  }
  const uint32_t Before = Superblocks.exitCount();
  if (Error Invalid = define(Id, First, E.first_exit, E.definition()))
    return Invalid;
  if (Archive)
    Archive->add(E.first_exit, Superblocks.exitCount() - Before,
                 E.definition());
  return Error::success();
}

void EventDecoder::translate(MutableArrayRef<uint32_t> Words) {
  auto Define = [&](uint32_t RecordersExit, ArrayRef<uint8_t> Definition) {
    // The parent's trace has it, so it is valid. If not, its exits are unknown.
    consumeError(define(Superblocks.count() + 1, Superblocks.exitCount() + 1,
                        RecordersExit, Definition));
  };
  for (uint32_t &Word : Words) {
    if (Word & CH_RUN_FAULT)
      return;
    Word = Exits.translate(Word, Define);
  }
}

void EventDecoder::noteFork(uint32_t Thread, uint32_t Number) {
  family::ForkPoint Point;
  Point.Time = Block.now();
  Point.Thread = Thread;
  if (model::CallTracker *T = Calls.thread(Thread)) {
    Point.Stacks.assign(T->stacks().begin(), T->stacks().end());
    Point.Stacks.front().StackPointer = T->stackPointer();
  }
  for (model::CallStackRecord &Stack : Point.Stacks)
    for (pieces::CallRecord &Call : Stack.Calls) {
      Call.CallSuperblock = Exits.recorders(Call.CallSuperblock);
      Call.Callee = Exits.recorders(Call.Callee);
    }
  Archive->addFork(Number, std::move(Point));
}

/// The calls under way began in the parent. Here they begin at 0.
void EventDecoder::inheritStacks(uint32_t Thread) {
  for (model::CallStackRecord &Stack : InheritedStacks)
    for (pieces::CallRecord &Call : Stack.Calls) {
      if (Call.CallSuperblock)
        translate(Call.CallSuperblock);
      if (Call.Callee)
        translate(Call.Callee);
      Call.Entry = 0;
      Call.Node = 0;
    }
  Calls.inherit(Thread, model::CallTracker(std::move(InheritedStacks)));
  InheritedStacks.clear();
}

/// Defines a superblock whose first exit has the number RecordersExit in the
/// stream.
Error EventDecoder::define(uint32_t Id, uint32_t FirstExit,
                           uint32_t RecordersExit,
                           ArrayRef<uint8_t> Definition) {
  if (Error Invalid = Superblocks.define(Id, FirstExit, Definition))
    return Invalid;
  if (Exits.differ())
    Exits.add(RecordersExit, FirstExit,
              Superblocks.exitCount() - (FirstExit - 1));
  Block.Sequence.setExitCount(Superblocks.exitCount());
  for (const bytecode::SlotFact *F = Superblocks.facts(Superblocks[Id]),
                                *End = Superblocks.factsEnd();
       F != End; ++F) {
    if (F->Kind == bytecode::SlotKind::Store ||
        F->Kind == bytecode::SlotKind::Load ||
        F->Kind == bytecode::SlotKind::StackPointer)
      continue;
    if (F->Reason >= MaxReason)
      return createStringError("opaque value with the invalid reason %u",
                               F->Reason);
    if (F->Reason >= Counts.OpaqueByReason.size())
      Counts.OpaqueByReason.resize(F->Reason + 1);
  }
  Database.addDefinition(Id, Definition);
  return Error::success();
}

Error EventDecoder::nameReason(const events::OpNameEvent &E) {
  if (E.reason >= MaxReason)
    return createStringError("name for the invalid reason %u", E.reason);
  if (E.reason >= ReasonNames.size())
    ReasonNames.resize(E.reason + 1);
  ReasonNames[E.reason] = toStringRef(E.name()).str();
  Database.addReasonName(E.reason, E.name());
  return Error::success();
}

/// Whether the timeline, which readers have in memory as a whole, lists events
/// of the kind.
static bool isInTimeline(uint32_t Kind) {
  switch (Kind) {
  case CH_EV_MAP:
  case CH_EV_UNMAP:
  case CH_EV_PROTECT:
  case CH_EV_THREAD_START:
  case CH_EV_THREAD_EXIT:
  case CH_EV_SIGNAL:
  case CH_EV_LOG_LOADS:
    return true;
  default:
    return false;
  }
}

Error EventDecoder::decode(const EventRecord &Record) {
  const auto [Kind, Payload] = Record;
  // EventRecord::take has checked that every record can be decoded.
  switch (Kind) {
  case CH_EV_DEFINE:
    return define(*events::DefineEvent::decode(Kind, Payload));
  case CH_EV_OP_NAME:
    return nameReason(*events::OpNameEvent::decode(Kind, Payload));
  case CH_EV_FAULT:
    return createStringError("fault event without a superblock that faulted");
  case CH_EV_LOADED:
    return createStringError("load of watched memory outside of a superblock");
  case CH_EV_TRANSLATION:
    if (Translations)
      Translations(Payload);
    return Error::success();
  case CH_EV_FORK: {
    ch_ev_fork Fork;
    std::memcpy(&Fork, Payload.data(), sizeof(Fork));
    if (Archive)
      noteFork(Fork.thread, Fork.number);
    return Error::success();
  }
  case CH_EV_AUDIT:
    return audit(*events::AuditEvent::decode(Kind, Payload));
  case CH_EV_STORED:
    return stored(*events::StoredEvent::decode(Kind, Payload));
  case CH_EV_MEMORY:
    return memory(Record, *events::MemoryEvent::decode(Kind, Payload));
  case CH_EV_MAP:
    map(*events::MapEvent::decode(Kind, Payload));
    break;
  case CH_EV_UNMAP: {
    auto Range = events::UnmapEvent::decode(Kind, Payload);
    Image.unmap(Range->address, Range->length);
    break;
  }
  case CH_EV_THREAD_START:
    if (!Counts.Threads++ && !InheritedStacks.empty())
      inheritStacks(events::ThreadStartEvent::decode(Kind, Payload)->thread);
    break;
  case CH_EV_SYSCALL_ENTER: {
    auto Call = events::SyscallEnterEvent::decode(Kind, Payload);
    if (Call->number == ExecveNumber || Call->number == ExecveatNumber)
      Counts.ExecThread = Call->thread;
    break;
  }
  case CH_EV_SYSCALL_EXIT: {
    auto Call = events::SyscallExitEvent::decode(Kind, Payload);
    if (Call->thread == Counts.ExecThread)
      Counts.ExecThread = 0;
    LimitsMet.systemCall(Call->number, Call->result, Block.now());
    break;
  }
  case CH_EV_SIGNAL:
    signal(*events::SignalEvent::decode(Kind, Payload));
    break;
  case CH_EV_END: {
    auto End = events::EndEvent::decode(Kind, Payload);
    Counts.Ended = true;
    Counts.EndReason = End->reason;
    Counts.EndCode = End->code;
    break;
  }
  default:
    break;
  }
  if (isInTimeline(Kind))
    Database.addTimeline(Block.now(), Kind, Payload);
  add(Kind, Payload);
  return Error::success();
}

Error EventDecoder::memory(const EventRecord &Record,
                           const events::MemoryEvent &E) {
  ArrayRef<uint8_t> Fixed =
      Record.Payload.take_front(events::MemoryEvent::MinSize);
  if (E.flags & CH_MEM_ZERO) {
    Image.zero(E.address, E.length);
    add(Record.Kind, Fixed);
    return Error::success();
  }
  std::optional<ArrayRef<uint8_t>> Bytes = E.bytes();
  if (!Bytes)
    return createStringError("memory contents at 0x%" PRIx64 " are cut off",
                             uint64_t(E.address));
  Image.write(E.address, Bytes->data(), Bytes->size());
  add(Record.Kind, Fixed,
      E.flags & CH_MEM_BY_REFERENCE ? ArrayRef<uint8_t>() : *Bytes);
  return Error::success();
}

Error EventDecoder::stored(const events::StoredEvent &E) {
  ArrayRef<uint8_t> Pages = E.pages();
  while (!Pages.empty()) {
    auto CutOff = [] {
      return createStringError("the pages of a stored event are cut off");
    };
    ch_stored_page Page;
    if (Pages.size() < sizeof(Page))
      return CutOff();
    std::memcpy(&Page, Pages.data(), sizeof(Page));
    Pages = Pages.drop_front(sizeof(Page));
    uint64_t Granules[GranuleWords];
    size_t Bytes = 0;
    for (unsigned W = 0; W < GranuleWords; ++W) {
      Granules[W] = Page.granules[W];
      Bytes += size_t(popcount(Granules[W])) * GranuleSize;
    }
    if (Pages.size() < Bytes)
      return CutOff();
    Image.writeGranules(Page.address, Granules, Pages.data());
    Pages = Pages.drop_front(Bytes);
  }
  ++Counts.EventsByKind[CH_EV_STORED];
  if (E.flags & CH_STORED_ALL)
    Block.SentExecutions = Block.Executions;
  return Error::success();
}

void EventDecoder::map(const events::MapEvent &E) {
  // The stack's growth is reported after it was used, and what it adds was
  // never written before.
  if (!(E.flags & CH_MAP_STACK))
    Image.map(E.address, E.length, E.isShared() ? E.object : 0, E.offset);
  Modules.mapped(E, E.path(), Block.now());
}

void EventDecoder::signal(const events::SignalEvent &E) {
  // Those of kill() have a code that is not positive.
  if (E.number != SIGILL || int32_t(E.code) <= 0)
    return;
  uint8_t Bytes[16];
  Image.read(E.address, Bytes, sizeof(Bytes));
  LimitsMet.illegalInstruction(E.address, Bytes, Block.now());
}

Error EventDecoder::audit(const events::AuditEvent &E) {
  std::optional<ArrayRef<uint8_t>> Found = E.bytes();
  if (!Found)
    return createStringError("audit of 0x%" PRIx64 " is cut off",
                             uint64_t(E.address));
  ++Counts.EventsByKind[CH_EV_AUDIT];
  ArrayRef<uint8_t> Bytes = *Found;
  if (Image.equals(E.address, Bytes.data(), Bytes.size()))
    return Error::success();
  // Runs of granules that differ; the same write may have left bytes as they
  // were.
  auto Step = [&](size_t At) {
    return std::min<size_t>(Bytes.size(),
                            At + GranuleSize - (E.address + At) % GranuleSize);
  };
  for (size_t At = 0; At < Bytes.size();) {
    size_t Start = At;
    while (At < Bytes.size() &&
           !Image.equals(E.address + At, Bytes.data() + At, Step(At) - At))
      At = Step(At);
    if (At > Start)
      outsideWrite(E.address + Start, Bytes.slice(Start, At - Start),
                   CH_FOUND_BY_AUDIT, 0);
    else
      At = Step(At);
  }
  Requests |= CH_REQUEST_LOG_LOADS;
  return Error::success();
}

StringRef EventDecoder::reasonName(uint32_t Reason) const {
  StringRef Fixed = events::fixedReasonName(Reason);
  if (!Fixed.empty())
    return Fixed;
  return Reason < ReasonNames.size() ? StringRef(ReasonNames[Reason])
                                     : StringRef();
}

} // namespace chronicle::indexer
