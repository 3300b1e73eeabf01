// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "indexer/StreamDecoder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <cinttypes>
#include <smmintrin.h>

using namespace llvm;
using namespace llvm::support;

namespace chronicle {

/// Reasons are VEX operations: a few thousand at most.
static constexpr uint32_t MaxReason = 1 << 16;

/// Of Linux on x86-64: the recorded machine's, whatever this one is.
static constexpr uint32_t ExecveNumber = 59, ExecveatNumber = 322;

template <typename T> static ArrayRef<uint8_t> bytesOf(const T &Value) {
  return ArrayRef(reinterpret_cast<const uint8_t *>(&Value), sizeof(T));
}

/// Where the next records of a chunk are.
struct StreamDecoder::Cursor {
  ArrayRef<uint8_t> Events;
  const uint8_t *Slots;
  const uint8_t *SlotsEnd;

  /// Takes the next event record.
  Expected<std::pair<uint32_t, ArrayRef<uint8_t>>> next() {
    if (Events.size() < sizeof(ch_event_header))
      return createStringError("an event is missing");
    auto H = fixedPart<ch_event_header>(Events);
    Events = Events.drop_front(sizeof(H));
    if (H.kind == 0 || H.kind >= EventKindCount ||
        H.size < eventFixedSize(H.kind) || H.size > Events.size())
      return createStringError(
          "an event of kind %u and %u bytes makes no sense", unsigned(H.kind),
          unsigned(H.size));
    ArrayRef<uint8_t> Payload = Events.take_front(H.size);
    Events =
        Events.drop_front(std::min<size_t>(alignTo(H.size, 8), Events.size()));
    return std::make_pair(uint32_t(H.kind), Payload);
  }
};

StreamDecoder::StreamDecoder(MemoryImage &Image, DatabaseBuilder &Database)
    : Image(Image), Database(Database) {
  beginBlock();
}

void StreamDecoder::beginBlock() {
  First += Instructions;
  EarlierExecutions += Executions;
  Instructions = Executions = ToldExecutions = 0;
  Events.clear();
  Opaque.clear();
  Sequence.beginBlock();
}

void StreamDecoder::endBlock() {
  if (!Executions && !Events.Count)
    return;
  // The recorder died before it told what the block's stores changed: readers
  // must know that page chunks do not say.
  if (Superblocks.someMarkStores() && ToldExecutions != Executions)
    addEvent(CH_EV_STORED, bytesOf(ch_ev_stored()));
  Modules.look(Image);
  BlockHead Head;
  Head.First = First;
  Head.Instructions = Instructions;
  Head.Executions = Executions;
  Head.Events = Events.Count;
  Head.OpaqueBytes = Opaque.size();
  Counts.OpaqueBytes += Opaque.size();
  ByteWriter Stacks =
      CallStacks.endBlock(Calls, Database, [this](uint32_t Word) {
        return Superblocks.superblockOf(Word);
      });
  Database.addBlock(Head, Events, Sequence, Opaque.data(), Stacks.data(),
                    Superblocks.owners());
  beginBlock();
}

Error StreamDecoder::decode(const RingChunk &Chunk) {
  Error E = decodeWords(Chunk);
  if (Chunk.Unfinished) {
    // What the recorder was writing when it died may be cut anywhere.
    consumeError(std::move(E));
    E = Error::success();
  }
  if (E)
    return E;
  if (Chunk.BlockEnd)
    endBlock();
  return Error::success();
}

/// The stack pointers from elsewhere among the first Sets ones.
void StreamDecoder::followSets(CallTracker &Running, const SlotFact *Facts,
                               unsigned Count, unsigned Sets,
                               const uint8_t *Slots, Timestamp T) {
  const SlotFact *Last = nullptr;
  auto Follow = [&] {
    if (Last && Last->Reason == CH_STACK_ELSEWHERE)
      Running.set(endian::read64le(Slots + Last->FirstSlot * CH_SLOT_SIZE), T);
  };
  for (const SlotFact *F = Facts; F != Facts + Count && Sets; ++F) {
    if (F->Kind != SlotKind::StackPointer)
      continue;
    --Sets;
    // Of an instruction's sets the last counts: replay sees no other.
    if (Last && Last->Instruction != F->Instruction)
      Follow();
    Last = F;
  }
  Follow();
}

/// An execution whose step is Other. T is the time at its entry.
void StreamDecoder::followCalls(CallTracker &Running, uint32_t Exit,
                                const uint8_t *Slots, Timestamp T) {
  const SuperblockTable::Exit &X = Superblocks.exit(Exit);
  T += X.Instructions;
  if (X.Special & SuperblockTable::StackSet) {
    const StackPointerFact &To = Superblocks.setStack(X);
    const SlotFact *Facts =
        Superblocks.facts(Superblocks[Superblocks.ownerOf(Exit)]);
    followSets(Running, Facts, Superblocks.factsAt(Exit), To.Base, Slots, T);
    uint64_t Base = Running.stackPointer();
    unsigned Sets = To.Base;
    for (const SlotFact *F = Facts; Sets; ++F)
      if (F->Kind == SlotKind::StackPointer && --Sets == 0)
        Base = endian::read64le(Slots + F->FirstSlot * CH_SLOT_SIZE);
    Running.moved(Base + uint64_t(To.Delta));
  } else {
    Running.moved(Running.stackPointer() + X.Stack);
  }
  if (X.Special & SuperblockTable::Call)
    Running.call(Exit + 1, T);
}

/// How many words there are before the first that is not below the end, a power
/// of two.
static size_t wordsBelow(const uint32_t *Words, size_t Count, uint32_t End) {
  auto Four = [&](size_t I) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i *>(Words + I));
  };
  const __m128i TooHigh = _mm_set1_epi32(int(-End));
  size_t I = 0;
  for (; I + 16 <= Count; I += 16) {
    __m128i Any = _mm_or_si128(_mm_or_si128(Four(I), Four(I + 4)),
                               _mm_or_si128(Four(I + 8), Four(I + 12)));
    if (!_mm_testz_si128(Any, TooHigh))
      break;
  }
  while (I < Count && Words[I] < End)
    ++I;
  return I;
}

/// Runs of superblocks, up to the first word that is something else.
const uint32_t *StreamDecoder::decodeRun(const uint32_t *Word,
                                         const uint32_t *End, Cursor &At) {
  while (Word != End) {
    size_t Count =
        wordsBelow(Word, std::min<size_t>(End - Word, Step::BatchSize),
                   Superblocks.stepEnd());
    size_t Taken = decodeBatch(Word, Count, At);
    Sequence.add(ArrayRef(Word, Taken));
    Word += Taken;
    if (!Taken || Taken != Count)
      break;
  }
  return Word;
}

/// Executions of one thread, up to one that makes no sense; returns how many.
/// The goal is 1 ns for each. Of most of them instructions and stack pointer
/// are all there is to know, but which are not no processor can foresee: so
/// nothing branches on it, each leaves a record, which the next overwrites if
/// it was that plain. What the records say is then done with the others.
size_t StreamDecoder::decodeBatch(const uint32_t *Words, size_t Count,
                                  Cursor &At) {
  const Step *Steps = Superblocks.steps();
  Step *const Before = Listed.data();
  Step Sum;
  size_t Specials = 0;
#pragma GCC unroll 8
  for (size_t I = 0; I != Count; ++I) {
    Step S = Steps[Words[I]];
    Before[Specials] = Sum;
    Specials += S.isSpecial();
    Sum = Sum + S;
  }

  CallTracker &Running = Calls.running() ? *Calls.running() : Nobody;
  // Where the sum counts from.
  uint64_t StackPointer = Running.stackPointer();
  const uint64_t FirstExecution = Executions;
  Timestamp Start = instructions();
  if (Count)
    Running.step(Words[0], Start);
  for (size_t N = 0; N != Specials; ++N) {
    const size_t I = Before[N].count();
    const Step S = Steps[Words[I]], After = Before[N] + S;
    const uint32_t Next = I + 1 != Count ? Words[I + 1] : 0;
    if (!S.is(Step::Other)) {
      Running.moved(StackPointer + After.stack());
      if (S.is(Step::Calls))
        Running.call(Words[I], Start + After.instructions(), Next);
      continue;
    }
    // Events that come of it need to know where they are.
    Executions = FirstExecution + I;
    Instructions = Start - First + Before[N].instructions();
    Running.jumpTo(StackPointer + Before[N].stack());
    if (!decodeOther(Running, Words[I] - 1, At))
      return I;
    Start += Superblocks.exit(Words[I] - 1).Instructions;
    StackPointer = Running.stackPointer() - After.stack();
    if (Next)
      Running.step(Next, Start + After.instructions());
  }
  Running.jumpTo(StackPointer + Sum.stack());
  Executions = FirstExecution + Count;
  Instructions = Start - First + Sum.instructions();
  return Count;
}

/// An execution that is more than a call or return; false if it cannot be.
bool StreamDecoder::decodeOther(CallTracker &Running, uint32_t Exit,
                                Cursor &At) {
  if (Exit >= Superblocks.exitCount())
    return false;
  uint32_t SlotBytes = 0;
  if (Superblocks.exit(Exit).Special & SuperblockTable::HasSlots) {
    const SuperblockTable::Entry &S = Superblocks[Superblocks.ownerOf(Exit)];
    SlotBytes = S.SlotBytes;
    if (size_t(At.SlotsEnd - At.Slots) < SlotBytes)
      return false;
    applySlots(Superblocks.facts(S), Superblocks.factsAt(Exit), At.Slots);
  }
  followCalls(Running, Exit, At.Slots, instructions());
  At.Slots += SlotBytes;
  return true;
}

Error StreamDecoder::decodeWords(const RingChunk &Chunk) {
  Cursor At{Chunk.Events, Chunk.Stores.begin(), Chunk.Stores.end()};
  const uint32_t *Word = Chunk.Run.begin(), *End = Chunk.Run.end();
  while ((Word = decodeRun(Word, End, At)) != End) {
    if (*Word == CH_RUN_EVENT) {
      ++Word;
      auto Record = At.next();
      if (!Record)
        return Record.takeError();
      if (Error E = decodeEvent(Record->first, Record->second))
        return E;
      continue;
    }
    uint32_t Exit = (*Word & ~CH_RUN_FAULT) - 1;
    if (Exit >= Superblocks.exitCount())
      return createStringError("exit %u was left by, which no superblock has",
                               *Word & ~CH_RUN_FAULT);
    uint32_t Id = Superblocks.ownerOf(Exit);
    if (!(*Word++ & CH_RUN_FAULT))
      return createStringError("the slots of superblock %u are missing", Id);
    if (Word == End || *Word++ != CH_RUN_EVENT)
      return createStringError("a fault in superblock %u is not described", Id);
    auto Record = At.next();
    if (!Record)
      return Record.takeError();
    if (Record->first != CH_EV_FAULT)
      return createStringError("a fault in superblock %u is not described", Id);
    if (Error E = decodeFault(Id, Record->second, At))
      return E;
  }
  return Error::success();
}

/// A superblock that an instruction in the middle ended.
Error StreamDecoder::decodeFault(uint32_t Id, ArrayRef<uint8_t> Payload,
                                 Cursor &At) {
  const SuperblockTable::Entry &S = Superblocks[Id];
  uint64_t Rip = fixedPart<ch_ev_fault>(Payload).rip;
  std::optional<SuperblockTable::FaultPoint> Point =
      Superblocks.faultPoint(Id, Rip);
  if (!Point)
    return createStringError("superblock %u faulted at 0x%" PRIx64
                             ", where it has no instruction",
                             Id, Rip);
  if (size_t(At.SlotsEnd - At.Slots) < S.SlotBytes)
    return createStringError("the slots of superblock %u are missing", Id);
  applySlots(Superblocks.facts(S), Point->Facts, At.Slots);
  if (CallTracker *Running = Calls.running()) {
    Running->step(S.FirstExit + 1, instructions());
    followSets(*Running, Superblocks.facts(S), Point->Facts, ~0u, At.Slots,
               instructions() + Point->Instructions);
  }
  At.Slots += S.SlotBytes;
  Instructions += Point->Instructions;
  Sequence.add(S.FirstExit);
  ++Executions;
  addEvent(CH_EV_FAULT, Payload);
  return Error::success();
}

void StreamDecoder::applySlots(const SlotFact *Facts, unsigned Count,
                               const uint8_t *Slots) {
  for (const SlotFact *F = Facts; F != Facts + Count; ++F) {
    const uint8_t *Slot = Slots + F->FirstSlot * CH_SLOT_SIZE;
    switch (F->Kind) {
    case SlotKind::Store:
      Image.store(endian::read64le(Slot), Slot + 8, F->Bytes);
      break;
    case SlotKind::Load: {
      uint64_t Address = endian::read64le(Slot);
      if (Address != CH_NO_ADDRESS &&
          LLVM_UNLIKELY(!Image.equals(Address, Slot + 8, F->Bytes)))
        outsideWrite(Address, Slot + 8, F->Bytes, CH_FOUND_BY_LOAD,
                     F->Instruction);
      break;
    }
    case SlotKind::Opaque:
    case SlotKind::OpaqueRegisters:
      Opaque.bytes(Slot, F->Bytes);
      Counts.OpaqueByReason[F->Reason] += F->Bytes;
      break;
    case SlotKind::StackPointer:
      break;
    case SlotKind::OpaqueMemory: {
      uint64_t Address = endian::read64le(Slot);
      if (Address == CH_NO_ADDRESS)
        break;
      Opaque.bytes(Slot + CH_SLOT_SIZE, F->Bytes);
      Counts.OpaqueByReason[F->Reason] += F->Bytes;
      Image.write(Address, Slot + CH_SLOT_SIZE, F->Bytes);
      break;
    }
    }
  }
}

void StreamDecoder::addEvent(uint32_t Kind, ArrayRef<uint8_t> Payload,
                             ArrayRef<uint8_t> More) {
  Events.add(Executions, Kind, Payload, More);
  Calls.event(Kind, Payload, instructions());
  ++Counts.Events;
  ++Counts.EventsByKind[Kind];
}

void StreamDecoder::outsideWrite(uint64_t Address, const uint8_t *Bytes,
                                 uint32_t Size, uint32_t FoundBy,
                                 uint32_t Instruction) {
  ch_ev_outside_write Event = {};
  Event.address = Address;
  Event.length = Size;
  Event.found_by = FoundBy;
  Event.instruction = Instruction;
  addEvent(CH_EV_OUTSIDE_WRITE, bytesOf(Event), ArrayRef(Bytes, Size));
  Image.write(Address, Bytes, Size);
  // Shared memory is for others to write; nobody owed us a report.
  if (FoundBy == CH_FOUND_BY_LOAD || Image.isShared(Address))
    ++Counts.OutsideWrites;
  else
    ++Counts.UnreportedWrites;
}

Error StreamDecoder::decodeEvent(uint32_t Kind, ArrayRef<uint8_t> Payload) {
  switch (Kind) {
  case CH_EV_DEFINE: {
    auto Define = fixedPart<ch_ev_define>(Payload);
    uint32_t Id = Define.id;
    ArrayRef<uint8_t> Definition = Payload.drop_front(sizeof(Define));
    if (Error E = Superblocks.define(Id, Define.first_exit, Definition))
      return E;
    const SuperblockTable::Entry &S = Superblocks[Id];
    Sequence.setExitCount(Superblocks.exitCount());
    for (const SlotFact *F = Superblocks.facts(S),
                        *End = Superblocks.factsEnd();
         F != End; ++F) {
      if (F->Kind == SlotKind::Store || F->Kind == SlotKind::Load ||
          F->Kind == SlotKind::StackPointer)
        continue;
      if (F->Reason >= MaxReason)
        return createStringError("an opaque value has the impossible reason %u",
                                 F->Reason);
      if (F->Reason >= Counts.OpaqueByReason.size())
        Counts.OpaqueByReason.resize(F->Reason + 1);
    }
    Database.addDefinition(Id, Definition);
    return Error::success();
  }
  case CH_EV_OP_NAME: {
    uint32_t Reason = fixedPart<ch_ev_op_name>(Payload).reason;
    ArrayRef<uint8_t> Name = Payload.drop_front(sizeof(ch_ev_op_name));
    if (Reason >= MaxReason)
      return createStringError("the impossible reason %u is named", Reason);
    if (Reason >= ReasonNames.size())
      ReasonNames.resize(Reason + 1);
    ReasonNames[Reason] = toStringRef(Name).str();
    Database.addReasonName(Reason, Name);
    return Error::success();
  }
  case CH_EV_FAULT:
    return createStringError("a fault came without its superblock");
  case CH_EV_AUDIT:
    return decodeAudit(Payload);
  case CH_EV_STORED:
    return decodeStored(Payload);
  case CH_EV_MEMORY:
    return decodeMemory(Payload);
  case CH_EV_MAP:
    decodeMap(Payload);
    break;
  case CH_EV_UNMAP: {
    auto R = fixedPart<ch_ev_range>(Payload);
    Image.unmap(R.address, R.length);
    break;
  }
  case CH_EV_REGISTERS: {
    auto R = fixedPart<ch_ev_registers>(Payload);
    if (Payload.size() < sizeof(R) + uint64_t(R.count) * 16)
      return createStringError("a change of registers is cut off");
    break;
  }
  case CH_EV_THREAD_START:
    ++Counts.Threads;
    break;
  case CH_EV_SYSCALL_ENTER: {
    auto E = fixedPart<ch_ev_syscall_enter>(Payload);
    if (E.number == ExecveNumber || E.number == ExecveatNumber)
      Counts.ExecThread = E.thread;
    break;
  }
  case CH_EV_SYSCALL_EXIT:
    if (fixedPart<ch_ev_syscall_exit>(Payload).thread == Counts.ExecThread)
      Counts.ExecThread = 0;
    break;
  case CH_EV_END: {
    auto End = fixedPart<ch_ev_end>(Payload);
    Counts.Ended = true;
    Counts.EndReason = End.reason;
    Counts.EndCode = End.code;
    break;
  }
  default:
    break;
  }
  switch (Kind) {
  case CH_EV_MAP:
  case CH_EV_UNMAP:
  case CH_EV_PROTECT:
  case CH_EV_THREAD_START:
  case CH_EV_THREAD_EXIT:
  case CH_EV_SIGNAL:
  case CH_EV_LOG_LOADS:
    Database.addTimeline(instructions(), Kind, Payload);
    break;
  default:
    break;
  }
  addEvent(Kind, Payload);
  return Error::success();
}

Error StreamDecoder::decodeMemory(ArrayRef<uint8_t> Payload) {
  auto M = fixedPart<ch_ev_memory>(Payload);
  ArrayRef<uint8_t> Bytes = Payload.drop_front(sizeof(M));
  if (M.flags & CH_MEM_ZERO) {
    Image.zero(M.address, M.length);
    addEvent(CH_EV_MEMORY, Payload.take_front(sizeof(M)));
    return Error::success();
  }
  if (Bytes.size() < M.length)
    return createStringError("memory contents at 0x%" PRIx64 " are cut off",
                             uint64_t(M.address));
  Bytes = Bytes.take_front(M.length);
  Image.write(M.address, Bytes.data(), Bytes.size());
  addEvent(CH_EV_MEMORY, Payload.take_front(sizeof(M)),
           M.flags & CH_MEM_BY_REFERENCE ? ArrayRef<uint8_t>() : Bytes);
  return Error::success();
}

Error StreamDecoder::decodeStored(ArrayRef<uint8_t> Payload) {
  auto Told = fixedPart<ch_ev_stored>(Payload);
  Payload = Payload.drop_front(sizeof(Told));
  while (!Payload.empty()) {
    auto CutOff = [] {
      return createStringError("what stores changed is cut off");
    };
    if (Payload.size() < sizeof(ch_stored_page))
      return CutOff();
    auto Page = fixedPart<ch_stored_page>(Payload);
    Payload = Payload.drop_front(sizeof(Page));
    uint64_t Granules[GranuleWords];
    size_t Bytes = 0;
    for (unsigned W = 0; W < GranuleWords; ++W) {
      Granules[W] = Page.granules[W];
      Bytes += size_t(popcount(Granules[W])) * GranuleSize;
    }
    if (Payload.size() < Bytes)
      return CutOff();
    Image.writeGranules(Page.address, Granules, Payload.data());
    Payload = Payload.drop_front(Bytes);
  }
  ++Counts.EventsByKind[CH_EV_STORED];
  if (Told.flags & CH_STORED_ALL)
    ToldExecutions = Executions;
  return Error::success();
}

void StreamDecoder::decodeMap(ArrayRef<uint8_t> Payload) {
  auto M = fixedPart<ch_ev_map>(Payload);
  // The stack's growth is reported after it was used, and what it adds was
  // never written before.
  if (!(M.flags & CH_MAP_STACK))
    Image.map(M.address, M.length, M.flags & CH_MAP_SHARED ? M.object : 0,
              M.offset);
  Modules.mapped(M, toStringRef(Payload.drop_front(sizeof(M))).rtrim('\0'),
                 instructions());
}

Error StreamDecoder::decodeAudit(ArrayRef<uint8_t> Payload) {
  auto R = fixedPart<ch_ev_range>(Payload);
  ArrayRef<uint8_t> Bytes = Payload.drop_front(sizeof(R));
  if (Bytes.size() < R.length)
    return createStringError("an audit of 0x%" PRIx64 " is cut off",
                             uint64_t(R.address));
  ++Counts.EventsByKind[CH_EV_AUDIT];
  Bytes = Bytes.take_front(R.length);
  if (Image.equals(R.address, Bytes.data(), Bytes.size()))
    return Error::success();
  // Runs of granules that differ; the same write may have left bytes as they
  // were.
  auto Step = [&](size_t At) {
    return std::min<size_t>(Bytes.size(),
                            At + GranuleSize - (R.address + At) % GranuleSize);
  };
  for (size_t At = 0; At < Bytes.size();) {
    size_t Start = At;
    while (At < Bytes.size() &&
           !Image.equals(R.address + At, Bytes.data() + At, Step(At) - At))
      At = Step(At);
    if (At > Start)
      outsideWrite(R.address + Start, Bytes.data() + Start,
                   uint32_t(At - Start), CH_FOUND_BY_AUDIT, 0);
    else
      At = Step(At);
  }
  Requests |= CH_REQUEST_LOG_LOADS;
  return Error::success();
}

StringRef StreamDecoder::reasonName(uint32_t Reason) const {
  StringRef Fixed = fixedReasonName(Reason);
  if (!Fixed.empty())
    return Fixed;
  return Reason < ReasonNames.size() ? StringRef(ReasonNames[Reason])
                                     : StringRef();
}

} // namespace chronicle
