// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Random streams for tests of the indexer, and what it should make of them.

#ifndef CHRONICLE_TEST_UNIT_RANDOMRUN_H
#define CHRONICLE_TEST_UNIT_RANDOMRUN_H

#include "test/support/ProgramWriter.h"
#include "test/support/RingBuilder.h"
#include "trace-format/FileFormat.h"
#include "trace-format/bytecode/SuperblockFacts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <array>
#include <bitset>
#include <map>
#include <ostream>
#include <random>

namespace chronicle {

using ByteVector = std::vector<uint8_t>;
using PageBytes = std::array<uint8_t, PageSize>;
using Granules = std::bitset<GranulesPerPage>;

/// A superblock, and its slots in order.
struct TestSuperblock {
  struct Slot {
    bytecode::SlotKind Kind;
    unsigned Bytes, Exit, Instruction;
  };
  uint64_t Address;
  uint32_t Flags = 0;
  std::vector<Slot> Slots;
  unsigned Instructions = 0, Exits = 0, FirstExit = 0;
  std::vector<unsigned> InstructionsAt{0};
  llvm::SmallVector<uint8_t, 0> Definition;
};

struct ExpectedEvent {
  uint64_t Execution;
  uint32_t Kind;
  ByteVector Payload;
  bool operator==(const ExpectedEvent &) const = default;
};
inline void PrintTo(const ExpectedEvent &E, std::ostream *Out) {
  *Out << "@" << E.Execution << " kind " << E.Kind << " size "
       << E.Payload.size();
}

struct ExpectedBlock {
  uint64_t First = 0, Instructions = 0;
  std::vector<uint32_t> Symbols;
  std::vector<ExpectedEvent> Events;
  ByteVector Opaque;
  std::map<uint64_t, Granules> Dirty;
  std::map<uint64_t, PageBytes> Memory; ///< at its end
};

/// Memory as the stream describes it, computed the slow and obvious way.
struct Model {
  std::map<uint64_t, PageBytes> Memory;
  std::map<uint64_t, Granules> Dirty;
  std::map<uint64_t, uint64_t> Alias;

  uint64_t frame(uint64_t Vpn) const {
    auto It = Alias.find(Vpn);
    return It == Alias.end() ? Vpn : It->second;
  }
  uint8_t at(uint64_t Address) const {
    auto It = Memory.find(frame(Address / PageSize));
    return It == Memory.end() ? 0 : It->second[Address % PageSize];
  }
  void write(uint64_t Address, llvm::ArrayRef<uint8_t> Bytes) {
    for (uint8_t B : Bytes) {
      uint64_t Frame = frame(Address / PageSize);
      Memory[Frame][Address % PageSize] = B;
      Dirty[Frame][Address % PageSize / GranuleSize] = true;
      ++Address;
    }
  }
  void zeroFrame(uint64_t Frame) {
    Memory.erase(Frame);
    Dirty.erase(Frame);
  }
  void zero(uint64_t Address, uint64_t Size) {
    while (Size) {
      uint64_t Part = std::min<uint64_t>(Size, PageSize - Address % PageSize);
      if (Part == PageSize)
        zeroFrame(frame(Address / PageSize));
      else
        write(Address, ByteVector(Part));
      Address += Part;
      Size -= Part;
    }
  }
  void map(uint64_t Address, uint64_t Size, uint32_t Object, uint64_t Offset) {
    for (uint64_t N = 0; N < Size / PageSize; ++N) {
      uint64_t Vpn = Address / PageSize + N;
      Alias.erase(Vpn);
      zeroFrame(Vpn);
      if (Object)
        Alias[Vpn] =
            SharedFrames + (uint64_t(Object) << 36) + Offset / PageSize + N;
    }
  }
};

/// Makes a random run, feeds it to an indexer and keeps what the trace should
/// hold.
class RandomRun {
public:
  RandomRun(unsigned Seed, RingBuilder &Ring, unsigned Count = 40,
            unsigned Pages = 8)
      : Random(Seed), Ring(Ring), Pages(Pages) {
    makeSuperblocks(Count);
  }

  std::vector<ExpectedBlock> Blocks;
  std::vector<TestSuperblock> Superblocks{TestSuperblock()};
  uint64_t OutsideWrites = 0, UnreportedWrites = 0;

  void block(unsigned Steps, bool Large = true) {
    snapshot();
    for (unsigned N = 0; N < Steps; ++N) {
      if (Ring.full())
        Ring.publish(0);
      if (!Large || pick(8))
        execute();
      else
        event();
    }
    if (Large && pick(4) == 0)
      byReference();
    Ring.publish(CH_CHUNK_BLOCK_END);
    endBlock();
  }
  void finish() {
    snapshot();
    ch_ev_end End = {CH_END_EXIT, 3};
    emit(CH_EV_END, RingBuilder::payload(End));
    Ring.publish(CH_CHUNK_BLOCK_END | CH_CHUNK_LAST);
    endBlock();
  }
  /// Sends superblocks and events of a block without its end.
  void openBlock(unsigned Steps) {
    snapshot();
    for (unsigned N = 0; N < Steps; ++N)
      pick(8) ? execute() : event();
  }
  void endBlock() {
    Now.Dirty = Memory.Dirty;
    Now.Memory = Memory.Memory;
    Memory.Dirty.clear();
    uint64_t Next = Now.First + Now.Instructions;
    Blocks.push_back(std::move(Now));
    Now = ExpectedBlock();
    Now.First = Next;
  }
  void execute() { execute(1 + pick(Superblocks.size() - 1), pick(10) == 0); }

private:
  uint32_t pick(uint32_t Bound) { return Random() % Bound; }

  void makeSuperblocks(unsigned Count) {
    static constexpr std::pair<ch_type, unsigned> Types[] = {
        {CH_I8, 1},  {CH_I16, 2},   {CH_I32, 4},
        {CH_I64, 8}, {CH_V128, 16}, {CH_V256, 32}};
    for (uint32_t Id = 1; Id <= Count; ++Id) {
      TestSuperblock S;
      S.Address = 0x400000 + Id * 0x1000;
      // A third of them has stores and stack pointers only, a third has slots
      // of all kinds, and a third logs its loads.
      S.Flags = Id % 3 == 2 ? CH_DEF_LOGS_LOADS : 0;
      ProgramWriter D(S.Address, S.Flags);
      const ProgramWriter::Value Zero = ProgramWriter::constant(CH_I64, 0),
                                 True = ProgramWriter::constant(CH_I1, 1),
                                 False = ProgramWriter::constant(CH_I1, 0);
      S.Instructions = 1 + pick(8);
      for (unsigned I = 0; I < S.Instructions; ++I) {
        D.instruction(1 + I % 5);
        for (unsigned N = pick(3); N; --N) {
          auto [Type, Bytes] = Types[pick(6)];
          bytecode::SlotKind Kind = bytecode::SlotKind::Store;
          if (Id % 3)
            Kind = bytecode::SlotKind(pick(6));
          else if (pick(4) == 0)
            Kind = bytecode::SlotKind::StackPointer;
          switch (Kind) {
          case bytecode::SlotKind::Store:
            D.store(Zero, ProgramWriter::constant(Type, 0));
            break;
          case bytecode::SlotKind::Load:
            D.load(Type, Zero);
            if (!S.Flags)
              continue;
            break;
          case bytecode::SlotKind::StackPointer:
            Bytes = 8;
            D.stackPointer();
            break;
          case bytecode::SlotKind::Opaque:
            D.opaque(Type, CH_REASON_FIRST_OP + Id);
            break;
          case bytecode::SlotKind::OpaqueRegisters:
            Bytes = 8 * (1 + pick(5));
            D.opaqueRegisters(16, Bytes);
            break;
          case bytecode::SlotKind::OpaqueMemory:
            Bytes = 1 + pick(60);
            D.opaqueMemory(True, Zero, Bytes);
            break;
          }
          S.Slots.push_back({Kind, Bytes, S.Exits, I});
        }
        if (pick(3) == 0) {
          D.exit(False, 0);
          ++S.Exits;
          S.InstructionsAt.push_back(I + 1);
        }
      }
      S.InstructionsAt.push_back(S.Instructions);
      S.Definition = D.finish(Zero);
      S.FirstExit = NextExit;
      NextExit += S.Exits + 1;
      Superblocks.push_back(S);
      Ring.define(Id, S.Definition);
    }
    ch_ev_op_name Name = {CH_REASON_FIRST_OP + 1, 0};
    Ring.event(CH_EV_OP_NAME, Name, llvm::arrayRefFromStringRef("SomeOp"));
  }

  uint64_t address() { return 0x10000 + pick(Pages * PageSize); }
  ByteVector content(unsigned Size) {
    ByteVector B(Size);
    for (uint8_t &C : B)
      C = uint8_t(Random());
    return B;
  }
  void slots(llvm::ArrayRef<uint8_t> Bytes) {
    ByteVector Padded(Bytes.begin(), Bytes.end());
    while (Padded.size() % CH_SLOT_SIZE)
      Padded.push_back(uint8_t(Random()));
    for (size_t At = 0; At < Padded.size(); At += CH_SLOT_SIZE) {
      uint64_t Words[2];
      std::memcpy(Words, Padded.data() + At, sizeof(Words));
      Ring.slot(Words[0], Words[1]);
    }
  }
  void access(uint64_t Address, llvm::ArrayRef<uint8_t> Value) {
    ByteVector B(8);
    std::memcpy(B.data(), &Address, 8);
    B.insert(B.end(), Value.begin(), Value.end());
    slots(B);
  }

  void execute(uint32_t Id, bool Fault) {
    const TestSuperblock &S = Superblocks[Id];
    unsigned Ordinal = 1 + pick(S.Exits + 1);
    unsigned FaultAt = pick(S.Instructions);
    for (const TestSuperblock::Slot &Slot : S.Slots) {
      bool Happened = Fault ? Slot.Instruction < FaultAt : Slot.Exit < Ordinal;
      bool Guarded = pick(10) == 0;
      uint64_t Address = Guarded ? CH_NO_ADDRESS : address();
      ByteVector Value = content(Slot.Bytes);
      Happened &= !Guarded || Slot.Kind == bytecode::SlotKind::Opaque ||
                  Slot.Kind == bytecode::SlotKind::OpaqueRegisters;
      switch (Slot.Kind) {
      case bytecode::SlotKind::Store:
        access(Address, Value);
        if (Happened)
          Memory.write(Address, Value);
        break;
      case bytecode::SlotKind::Load: {
        bool Same = true;
        for (unsigned N = 0; !Guarded && N < Slot.Bytes; ++N) {
          if (pick(100))
            Value[N] = Memory.at(Address + N);
          Same &= Value[N] == Memory.at(Address + N);
        }
        access(Address, Value);
        if (Happened && !Same) {
          ch_ev_outside_write E = {Address, Slot.Bytes, CH_FOUND_BY_LOAD,
                                   Slot.Instruction, 0};
          expect(CH_EV_OUTSIDE_WRITE, RingBuilder::payload(E, Value));
          Memory.write(Address, Value);
          ++OutsideWrites;
        }
        break;
      }
      case bytecode::SlotKind::StackPointer:
        slots(Value);
        break;
      case bytecode::SlotKind::Opaque:
      case bytecode::SlotKind::OpaqueRegisters:
        slots(Value);
        if (Happened)
          llvm::append_range(Now.Opaque, Value);
        break;
      case bytecode::SlotKind::OpaqueMemory:
        Ring.slot(Address, 0);
        slots(Value);
        if (Happened) {
          llvm::append_range(Now.Opaque, Value);
          Memory.write(Address, Value);
        }
        break;
      }
    }
    Ring.execute(Id, Fault ? 0 : Ordinal);
    Now.Symbols.push_back(S.FirstExit + (Fault ? 0 : Ordinal - 1));
    Now.Instructions += Fault ? FaultAt : S.InstructionsAt[Ordinal];
    if (Fault) {
      ch_ev_fault E = {1, 0, S.Address};
      for (unsigned I = 0; I < FaultAt; ++I)
        E.rip += 1 + I % 5;
      emit(CH_EV_FAULT, RingBuilder::payload(E));
    }
  }

  void expect(uint32_t Kind, ByteVector Payload) {
    Now.Events.push_back({Now.Symbols.size(), Kind, std::move(Payload)});
  }
  void emit(uint32_t Kind, ByteVector Payload) {
    Ring.record(Kind, Payload);
    expect(Kind, std::move(Payload));
  }
  void snapshot() {
    ch_ev_snapshot E = {1 + pick(2), 0};
    emit(CH_EV_SNAPSHOT, RingBuilder::payload(E, content(CH_GUEST_STATE_SIZE)));
  }

  void event() {
    switch (pick(8)) {
    case 0: {
      ch_ev_memory E = {address(), 1 + pick(6000), 1, CH_MEM_SYSCALL, 0, 0};
      ByteVector B = content(unsigned(E.length));
      emit(CH_EV_MEMORY, RingBuilder::payload(E, B));
      Memory.write(E.address, B);
      break;
    }
    case 1: {
      ch_ev_memory E = {
          address(), 1 + pick(3 * PageSize), 1, CH_MEM_CORE, CH_MEM_ZERO, 0};
      emit(CH_EV_MEMORY, RingBuilder::payload(E));
      Memory.zero(E.address, E.length);
      break;
    }
    case 2: {
      ch_ev_map E = {};
      E.address = 0x10000 + pick(6) * PageSize;
      E.length = (1 + pick(3)) * PageSize;
      if (pick(2)) {
        E.flags = CH_MAP_SHARED;
        E.object = 1 + pick(2);
        E.offset = pick(4) * PageSize;
      }
      emit(CH_EV_MAP, RingBuilder::payload(E));
      Memory.map(E.address, E.length, E.object, E.offset);
      break;
    }
    case 3: {
      ch_ev_range E = {0x10000 + pick(6) * PageSize, PageSize * (1 + pick(2)),
                       0, 1};
      // Sometimes it is more than there is.
      if (pick(4) == 0)
        E = {0, 0x100000, 0, 1};
      emit(CH_EV_UNMAP, RingBuilder::payload(E));
      Memory.map(E.address, E.length, 0, 0);
      break;
    }
    case 4: {
      ch_ev_map E = {};
      E.address = 0x10000;
      E.length = 8 * PageSize;
      E.flags = CH_MAP_STACK;
      emit(CH_EV_MAP, RingBuilder::payload(E));
      break;
    }
    case 5:
      audit();
      break;
    case 6: {
      ch_ev_output E = {1, 1};
      emit(CH_EV_OUTPUT, RingBuilder::payload(E, content(pick(20))));
      break;
    }
    default: {
      ch_ev_thread E = {1, 0};
      emit(CH_EV_RESUME, RingBuilder::payload(E));
    }
    }
  }
  void audit() {
    ch_ev_range E = {0x10000 + pick(Pages) * PageSize, PageSize, 0, 0};
    ByteVector B(PageSize);
    for (unsigned N = 0; N < PageSize; ++N)
      B[N] = Memory.at(E.address + N);
    if (pick(2)) {
      unsigned At = 8 * pick(500);
      B[At] ^= 1;
      B[At + 9] ^= 1;
      ch_ev_outside_write W = {E.address + At, 16, CH_FOUND_BY_AUDIT, 0, 0};
      ByteVector Changed(B.begin() + At, B.begin() + At + 16);
      expect(CH_EV_OUTSIDE_WRITE, RingBuilder::payload(W, Changed));
      Memory.write(W.address, Changed);
      ++(Memory.frame(W.address / PageSize) >= SharedFrames ? OutsideWrites
                                                            : UnreportedWrites);
    }
    Ring.event(CH_EV_AUDIT, E, B);
  }
  void byReference() {
    ch_ev_memory E = {0x10000,        4 * PageSize,        1,
                      CH_MEM_SYSCALL, CH_MEM_BY_REFERENCE, 0};
    ByteVector B = content(unsigned(E.length));
    Ring.event(CH_EV_MEMORY, E, B);
    expect(CH_EV_MEMORY, RingBuilder::payload(E));
    Memory.write(E.address, B);
  }

  std::mt19937 Random;
  RingBuilder &Ring;
  unsigned Pages;
  Model Memory;
  ExpectedBlock Now;
  unsigned NextExit = 0;
};

} // namespace chronicle

#endif
