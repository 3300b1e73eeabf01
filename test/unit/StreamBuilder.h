// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Makes streams by hand, for tests: superblock definitions and the ring as a
/// recorder fills it.

#ifndef CHRONICLE_TEST_UNIT_STREAMBUILDER_H
#define CHRONICLE_TEST_UNIT_STREAMBUILDER_H

#include "trace-format/Bytecode.h"
#include "trace-format/Bytes.h"
#include "trace-format/Stream.h"
#include <cstring>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace chronicle {

/// Writes a replay program, statement by statement. All operands are constants.
class DefinitionBuilder {
public:
  explicit DefinitionBuilder(uint64_t Address, uint32_t Flags = 0)
      : Address(Address), Flags(Flags) {}

  DefinitionBuilder &instruction(unsigned Length) {
    ++Instructions;
    Body.v(CH_OP_INSTRUCTION);
    Body.v(Length);
    return *this;
  }
  DefinitionBuilder &store(ch_type Type, unsigned Bytes) {
    Body.v(CH_OP_STORE);
    Body.u8(Type);
    constant(0);
    constant(0);
    if (!(Flags & CH_DEF_MARKS_STORES))
      Slots += CH_ACCESS_SLOTS(Bytes);
    return *this;
  }
  DefinitionBuilder &load(ch_type Type, unsigned Bytes) {
    Body.v(CH_OP_LOAD);
    Body.u8(Type);
    constant(0);
    ++Temps;
    if (Flags & CH_DEF_LOGS_LOADS)
      Slots += CH_ACCESS_SLOTS(Bytes);
    return *this;
  }
  DefinitionBuilder &opaque(ch_type Type, unsigned Bytes, uint32_t Reason) {
    Body.v(CH_OP_OPAQUE);
    Body.u8(Type);
    Body.v(Reason);
    ++Temps;
    Slots += CH_VALUE_SLOTS(Bytes);
    return *this;
  }
  DefinitionBuilder &opaqueRegisters(uint32_t Offset, uint32_t Bytes,
                                     uint32_t Reason) {
    Body.v(CH_OP_OPAQUE_REGISTERS);
    Body.v(Offset);
    Body.v(Bytes);
    Body.v(Reason);
    Slots += CH_VALUE_SLOTS(Bytes);
    return *this;
  }
  DefinitionBuilder &opaqueMemory(uint32_t Bytes, uint32_t Reason) {
    Body.v(CH_OP_OPAQUE_MEMORY);
    constant(1);
    constant(0);
    Body.v(Bytes);
    Body.v(Reason);
    Slots += 1 + CH_VALUE_SLOTS(Bytes);
    return *this;
  }
  DefinitionBuilder &stackPointer() {
    Body.v(CH_OP_STACK_POINTER);
    Body.u8(0);
    Slots += CH_VALUE_SLOTS(8);
    return *this;
  }
  DefinitionBuilder &exit() {
    ++Exits;
    Body.v(CH_OP_EXIT);
    constant(0);
    constant(0);
    Body.u8(CH_JUMP_PLAIN);
    Body.v(0); // stack pointer: as at entry
    Body.v(0);
    return *this;
  }
  /// Adds the last statement and gives all of it.
  llvm::SmallVector<uint8_t, 0> finish() {
    Body.v(CH_OP_NEXT);
    constant(0);
    Body.u8(CH_JUMP_PLAIN);
    Body.v(0); // stack pointer: as at entry
    Body.v(0);
    ByteWriter Out;
    Out.u64(Address);
    for (uint64_t N : {Instructions, Exits, Temps, Slots, Flags})
      Out.v(N);
    Out.bytes(Body.data());
    return Out.take();
  }

private:
  void constant(int64_t Value) { Body.v(zigzag(Value) << 2 | 1); }
  uint64_t Address;
  uint32_t Flags, Instructions = 0, Exits = 0, Temps = 0, Slots = 0;
  ByteWriter Body;
};

/// The recorder's end of a ring in ordinary memory.
class RingBuilder {
public:
  explicit RingBuilder(uint32_t ChunkCount = 4, uint32_t RunBytes = 4096,
                       uint32_t EventBytes = 256 << 10,
                       uint64_t StoreBytes = 64 << 10) {
    uint64_t Stride =
        sizeof(ch_chunk_header) + RunBytes + EventBytes + StoreBytes;
    Memory.resize((CH_RING_HEADER_SIZE + Stride * ChunkCount) / 8 + 1);
    ch_ring_header &H = header();
    H.magic = CH_RING_MAGIC;
    H.version = CH_STREAM_VERSION;
    H.chunk_count = ChunkCount;
    H.chunk_stride = Stride;
    H.run_bytes = RunBytes;
    H.event_bytes = EventBytes;
    H.store_bytes = StoreBytes;
    H.block_instructions = 1000;
  }

  void *memory() { return Memory.data(); }
  size_t bytes() const { return Memory.size() * 8; }
  ch_ring_header &header() {
    return *reinterpret_cast<ch_ring_header *>(Memory.data());
  }

  void word(uint32_t Word) {
    open();
    std::memcpy(run() + Chunk.run_words++ * 4, &Word, 4);
  }
  /// Ordinal 0: left by a fault.
  void execute(uint32_t Id, uint32_t Ordinal) {
    word(Ordinal ? FirstExits[Id] + Ordinal - 1
                 : FirstExits[Id] | CH_RUN_FAULT);
  }
  void define(uint32_t Id, llvm::ArrayRef<uint8_t> Definition) {
    // The second number of the header.
    ByteReader Header(Definition.drop_front(8));
    Header.v();
    uint32_t Exits = uint32_t(Header.v()) + 1;
    FirstExits.resize(std::max<size_t>(FirstExits.size(), Id + 1));
    FirstExits[Id] = NextExit;
    ch_ev_define E = {Id, NextExit};
    NextExit += Exits;
    event(CH_EV_DEFINE, E, Definition);
  }
  /// A slot's 16 bytes.
  void slot(uint64_t A, uint64_t B) {
    open();
    uint8_t *At = stores() + Chunk.store_used;
    std::memcpy(At, &A, 8);
    std::memcpy(At + 8, &B, 8);
    Chunk.store_used += CH_SLOT_SIZE;
  }
  void record(uint32_t Kind, llvm::ArrayRef<uint8_t> Payload) {
    open();
    ch_event_header H = {Kind, ch_u32(Payload.size())};
    uint8_t *At = events() + Chunk.event_used;
    std::memcpy(At, &H, sizeof(H));
    if (!Payload.empty())
      std::memcpy(At + sizeof(H), Payload.data(), Payload.size());
    Chunk.event_used += (sizeof(H) + Payload.size() + 7) / 8 * 8;
    word(CH_RUN_EVENT);
  }
  template <typename T>
  void event(uint32_t Kind, const T &Fixed, llvm::ArrayRef<uint8_t> More = {}) {
    record(Kind, payload(Fixed, More));
  }
  template <typename T>
  static std::vector<uint8_t> payload(const T &Fixed,
                                      llvm::ArrayRef<uint8_t> More = {}) {
    const auto *P = reinterpret_cast<const uint8_t *>(&Fixed);
    std::vector<uint8_t> Bytes(P, P + sizeof(T));
    Bytes.insert(Bytes.end(), More.begin(), More.end());
    return Bytes;
  }
  void publish(uint32_t Flags) {
    open();
    Chunk.flags = Flags;
    std::memcpy(slotMemory(), &Chunk, sizeof(Chunk));
    Opened = false;
    ++Number;
    __atomic_store_n(&header().published, Number, __ATOMIC_SEQ_CST);
    if (__atomic_exchange_n(&header().indexer_waits, 0, __ATOMIC_SEQ_CST))
      ::syscall(SYS_futex, &header().published, FUTEX_WAKE, 1, nullptr, nullptr,
                0);
  }
  /// What a recorder that is killed leaves: the chunk is open, its header says
  /// nothing of how much is in it.
  void die() {
    open();
    ch_chunk_header Left = {};
    Left.number = Number + 1;
    std::memcpy(slotMemory(), &Left, sizeof(Left));
  }
  bool full() const {
    return Chunk.run_words > 500 || Chunk.event_used > 128 << 10;
  }

private:
  void open() {
    if (Opened)
      return;
    ch_ring_header &H = header();
    while (Number - __atomic_load_n(&H.consumed, __ATOMIC_SEQ_CST) >=
           H.chunk_count)
      std::this_thread::yield();
    Opened = true;
    Chunk = {};
    Chunk.number = Number + 1;
  }
  uint8_t *slotMemory() {
    return reinterpret_cast<uint8_t *>(Memory.data()) + CH_RING_HEADER_SIZE +
           header().chunk_stride * (Number % header().chunk_count);
  }
  uint8_t *run() { return slotMemory() + sizeof(ch_chunk_header); }
  uint8_t *events() { return run() + header().run_bytes; }
  uint8_t *stores() { return events() + header().event_bytes; }

  std::vector<uint64_t> Memory;
  ch_chunk_header Chunk = {};
  uint32_t Number = 0;
  bool Opened = false;
  std::vector<uint32_t> FirstExits; ///< by id
  uint32_t NextExit = 1;
};

} // namespace chronicle

#endif
