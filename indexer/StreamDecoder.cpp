// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "indexer/StreamDecoder.h"
#include "llvm/Support/Endian.h"
#include <cinttypes>
#include <cstring>
#include <smmintrin.h>

using namespace llvm;
using namespace llvm::support;

namespace chronicle::indexer {

/// What is left of a chunk's event and store areas.
struct StreamDecoder::Cursor {
  ArrayRef<uint8_t> Events;
  const uint8_t *Slots;
  const uint8_t *SlotsEnd;
};

StreamDecoder::StreamDecoder(MemoryImage &Image, DatabaseBuilder &Database,
                             TranslationSink Translations, family::Kinship Kin)
    : Image(Image), Database(Database),
      Events(Image, Database, Superblocks, Calls, Block, Counts,
             std::move(Translations), std::move(Kin)) {
  Block.next();
}

void StreamDecoder::endBlock() {
  if (Block.empty())
    return;
  Events.endBlock();
  pieces::BlockHead Head;
  Head.First = Block.First;
  Head.Instructions = Block.Instructions;
  Head.Executions = Block.Executions;
  Head.Events = Block.Events.Count;
  Head.OpaqueBytes = Block.Opaque.size();
  Counts.OpaqueBytes += Block.Opaque.size();
  ByteWriter Stacks =
      CallStacks.endBlock(Calls, Database, [this](uint32_t Word) {
        return Superblocks.superblockOf(Word);
      });
  Database.addBlock(Head, Block.Events, Block.Sequence, Block.Opaque.data(),
                    Stacks.data(), Superblocks.owners());
  Block.next();
}

Error StreamDecoder::decode(const RingChunk &Chunk) {
  Error E = decodeWords(Chunk);
  if (Chunk.Unfinished) {
    // The recorder died while it wrote this chunk: the last record may end
    // anywhere.
    consumeError(std::move(E));
    E = Error::success();
  }
  if (E)
    return E;
  if (Chunk.BlockEnd)
    endBlock();
  return Error::success();
}

/// Follows those of a superblock's first Sets assignments to the stack pointer
/// that take it from elsewhere.
void StreamDecoder::followSets(model::CallTracker &Running,
                               const bytecode::SlotFact *Facts, unsigned Count,
                               unsigned Sets, const uint8_t *Slots,
                               Timestamp T) {
  const bytecode::SlotFact *Last = nullptr;
  auto Follow = [&] {
    if (Last && Last->Reason == CH_STACK_ELSEWHERE)
      Running.set(endian::read64le(Slots + Last->FirstSlot * CH_SLOT_SIZE), T);
  };
  for (const bytecode::SlotFact *F = Facts; F != Facts + Count && Sets; ++F) {
    if (F->Kind != bytecode::SlotKind::StackPointer)
      continue;
    --Sets;
    // If one instruction sets RSP several times, only the last value matters;
    // replay never sees the others.
    if (Last && Last->Instruction != F->Instruction)
      Follow();
    Last = F;
  }
  Follow();
}

/// Follows an execution whose step is Other. T is the time at its entry.
void StreamDecoder::followCalls(model::CallTracker &Running, uint32_t Exit,
                                const uint8_t *Slots, Timestamp T) {
  const SuperblockTable::Exit &X = Superblocks.exit(Exit);
  T += X.Instructions;
  if (X.Special & SuperblockTable::StackSet) {
    const bytecode::StackPointerFact &To = Superblocks.setStack(X);
    const bytecode::SlotFact *Facts =
        Superblocks.facts(Superblocks[Superblocks.ownerOf(Exit)]);
    followSets(Running, Facts, Superblocks.factsAt(Exit), To.Base, Slots, T);
    uint64_t Base = Running.stackPointer();
    unsigned Sets = To.Base;
    for (const bytecode::SlotFact *F = Facts; Sets; ++F)
      if (F->Kind == bytecode::SlotKind::StackPointer && --Sets == 0)
        Base = endian::read64le(Slots + F->FirstSlot * CH_SLOT_SIZE);
    Running.moved(Base + uint64_t(To.Delta));
  } else {
    Running.moved(Running.stackPointer() + X.Stack);
  }
  if (X.Special & SuperblockTable::Call)
    Running.call(Exit + 1, T);
}

/// Counts the words before the first that is not below End, a power of two.
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

/// Decodes executions up to the first word that is something else.
const uint32_t *StreamDecoder::decodeRun(const uint32_t *Word,
                                         const uint32_t *End, Cursor &At) {
  while (Word != End) {
    // A copy, because the program can write to the ring: a word that was
    // checked must not change before it is used.
    uint32_t Words[Step::BatchSize];
    const size_t Most = std::min<size_t>(End - Word, Step::BatchSize);
    std::memcpy(Words, Word, Most * sizeof(*Words));
    if (Events.translates())
      Events.translate(MutableArrayRef(Words, Most));
    size_t Count = wordsBelow(Words, Most, Superblocks.stepEnd());
    size_t Taken = decodeBatch(Words, Count, At);
    Block.Sequence.add(ArrayRef(Words, Taken));
    Word += Taken;
    if (Taken)
      LastExit = Words[Taken - 1] - 1;
    if (!Taken || Taken != Count)
      break;
  }
  return Word;
}

/// Decodes executions of one thread up to an invalid one, and returns how many.
/// The goal is 1 ns per execution. Most executions only add to the instruction
/// count and to the stack pointer. Which ones do more is not predictable, so
/// the first loop does not branch on it: every execution leaves a record, and
/// the next execution overwrites the record of a plain one. The second loop
/// then visits the records that are left.
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

  model::CallTracker &Running =
      Calls.running() ? *Calls.running() : BeforeThreads;
  // The sum of stack pointer moves counts from here.
  uint64_t StackPointer = Running.stackPointer();
  const uint64_t FirstExecution = Block.Executions;
  Timestamp Start = Block.now();
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
    // Events that this execution causes read the position from the block.
    Block.Executions = FirstExecution + I;
    Block.Instructions = Start - Block.First + Before[N].instructions();
    Running.jumpTo(StackPointer + Before[N].stack());
    if (!decodeOther(Running, Words[I] - 1, At))
      return I;
    Start += Superblocks.exit(Words[I] - 1).Instructions;
    StackPointer = Running.stackPointer() - After.stack();
    if (Next)
      Running.step(Next, Start + After.instructions());
  }
  Running.jumpTo(StackPointer + Sum.stack());
  Block.Executions = FirstExecution + Count;
  Block.Instructions = Start - Block.First + Sum.instructions();
  return Count;
}

/// Decodes an execution that is more than a call or return. Returns false if it
/// is invalid.
bool StreamDecoder::decodeOther(model::CallTracker &Running, uint32_t Exit,
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
  followCalls(Running, Exit, At.Slots, Block.now());
  At.Slots += SlotBytes;
  return true;
}

/// Decodes what an execution of a superblock loaded from watched memory: all
/// CH_RUN_LOADED words from Word on.
Error StreamDecoder::decodeLoaded(const uint32_t *&Word, const uint32_t *End,
                                  uint64_t Execution, uint32_t Superblock,
                                  Cursor &At) {
  for (; Word != End && *Word == CH_RUN_LOADED; ++Word) {
    Expected<EventRecord> Record = EventRecord::take(At.Events);
    if (!Record)
      return Record.takeError();
    if (Error E = Events.loaded(*Record, Execution, Superblock))
      return E;
  }
  return Error::success();
}

Error StreamDecoder::decodeWords(const RingChunk &Chunk) {
  Cursor At{Chunk.Events, Chunk.Stores.begin(), Chunk.Stores.end()};
  const uint32_t *Word = Chunk.Run.begin(), *End = Chunk.Run.end();
  LastExit = Superblocks.exitCount();
  while ((Word = decodeRun(Word, End, At)) != End) {
    const uint32_t Is = *static_cast<const volatile uint32_t *>(Word);
    if (Is == CH_RUN_LOADED) {
      if (LastExit >= Superblocks.exitCount() || !Block.Executions)
        return createStringError(
            "load of watched memory before any superblock of its chunk");
      if (Error E = decodeLoaded(Word, End, Block.Executions - 1,
                                 Superblocks.ownerOf(LastExit), At))
        return E;
      continue;
    }
    if (Is == CH_RUN_EVENT) {
      ++Word;
      Expected<EventRecord> Record = EventRecord::take(At.Events);
      if (!Record)
        return Record.takeError();
      if (Error E = Events.decode(*Record))
        return E;
      continue;
    }
    uint32_t Own = Is & ~CH_RUN_FAULT;
    if (Events.translates())
      Events.translate(Own);
    const uint32_t Exit = Own - 1;
    if (Exit >= Superblocks.exitCount())
      return createStringError(
          "run word names exit %u, but no superblock has that exit",
          Is & ~CH_RUN_FAULT);
    uint32_t Id = Superblocks.ownerOf(Exit);
    ++Word;
    if (!(Is & CH_RUN_FAULT))
      return createStringError("the slots of superblock %u are missing", Id);
    if (Error E = decodeLoaded(Word, End, Block.Executions, Id, At))
      return E;
    if (Word == End || *Word++ != CH_RUN_EVENT)
      return createStringError(
          "superblock %u faulted, but no fault event follows", Id);
    Expected<EventRecord> Record = EventRecord::take(At.Events);
    if (!Record)
      return Record.takeError();
    if (Error E = decodeFault(Id, *Record, At))
      return E;
  }
  return Error::success();
}

/// Decodes a superblock that ended at a fault of one of its instructions.
Error StreamDecoder::decodeFault(uint32_t Id, const EventRecord &Record,
                                 Cursor &At) {
  const SuperblockTable::Entry &S = Superblocks[Id];
  auto Fault = events::FaultEvent::decode(Record.Kind, Record.Payload);
  if (!Fault)
    return createStringError(
        "superblock %u faulted, but no fault event follows", Id);
  const uint64_t Rip = Fault->rip;
  std::optional<SuperblockTable::FaultPoint> Point =
      Superblocks.faultPoint(Id, Rip);
  if (!Point)
    return createStringError("superblock %u faulted at 0x%" PRIx64
                             ", where it has no instruction",
                             Id, Rip);
  if (size_t(At.SlotsEnd - At.Slots) < S.SlotBytes)
    return createStringError("the slots of superblock %u are missing", Id);
  applySlots(Superblocks.facts(S), Point->Facts, At.Slots);
  if (model::CallTracker *Running = Calls.running()) {
    Running->step(S.FirstExit + 1, Block.now());
    followSets(*Running, Superblocks.facts(S), Point->Facts, ~0u, At.Slots,
               Block.now() + Point->Instructions);
  }
  At.Slots += S.SlotBytes;
  Block.Instructions += Point->Instructions;
  Block.Sequence.add(S.FirstExit);
  ++Block.Executions;
  Events.add(Record.Kind, Record.Payload);
  return Error::success();
}

void StreamDecoder::applySlots(const bytecode::SlotFact *Facts, unsigned Count,
                               const uint8_t *Slots) {
  for (const bytecode::SlotFact *F = Facts; F != Facts + Count; ++F) {
    const uint8_t *Slot = Slots + F->FirstSlot * CH_SLOT_SIZE;
    switch (F->Kind) {
    case bytecode::SlotKind::Store:
      Image.store(endian::read64le(Slot), Slot + 8, F->Bytes);
      break;
    case bytecode::SlotKind::Load: {
      uint64_t Address = endian::read64le(Slot);
      if (Address != CH_NO_ADDRESS &&
          LLVM_UNLIKELY(!Image.equals(Address, Slot + 8, F->Bytes)))
        Events.outsideWrite(Address, ArrayRef(Slot + 8, F->Bytes),
                            CH_FOUND_BY_LOAD, F->Instruction, F->Reason);
      break;
    }
    case bytecode::SlotKind::Opaque:
    case bytecode::SlotKind::OpaqueRegisters:
      Block.Opaque.bytes(Slot, F->Bytes);
      Counts.OpaqueByReason[F->Reason] += F->Bytes;
      break;
    case bytecode::SlotKind::StackPointer:
      break;
    case bytecode::SlotKind::OpaqueMemory: {
      uint64_t Address = endian::read64le(Slot);
      if (Address == CH_NO_ADDRESS)
        break;
      Block.Opaque.bytes(Slot + CH_SLOT_SIZE, F->Bytes);
      Counts.OpaqueByReason[F->Reason] += F->Bytes;
      Image.write(Address, Slot + CH_SLOT_SIZE, F->Bytes);
      break;
    }
    }
  }
}

} // namespace chronicle::indexer
