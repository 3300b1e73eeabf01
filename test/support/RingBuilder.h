// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Makes streams by hand, for tests: fills a ring as a recorder does.

#ifndef CHRONICLE_TEST_SUPPORT_RINGBUILDER_H
#define CHRONICLE_TEST_SUPPORT_RINGBUILDER_H

#include "trace-format/Bytes.h"
#include "trace-format/Stream.h"
#include <cstring>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace chronicle {

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
  /// Ordinal 0 means that a fault ended the execution.
  void execute(uint32_t Id, uint32_t Ordinal) {
    word(Ordinal ? FirstExits[Id] + Ordinal - 1
                 : FirstExits[Id] | CH_RUN_FAULT);
  }
  void define(uint32_t Id, llvm::ArrayRef<uint8_t> Definition) {
    // The number of exits is the second number of the header.
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
  void record(uint32_t Kind, llvm::ArrayRef<uint8_t> Payload,
              uint32_t Announcement = CH_RUN_EVENT) {
    open();
    ch_event_header H = {Kind, ch_u32(Payload.size())};
    uint8_t *At = events() + Chunk.event_used;
    std::memcpy(At, &H, sizeof(H));
    if (!Payload.empty())
      std::memcpy(At + sizeof(H), Payload.data(), Payload.size());
    Chunk.event_used += (sizeof(H) + Payload.size() + 7) / 8 * 8;
    word(Announcement);
  }
  /// What the execution before loaded from watched memory.
  void loaded(const ch_ev_loaded &Fixed, llvm::ArrayRef<uint8_t> Bytes) {
    record(CH_EV_LOADED, payload(Fixed, Bytes), CH_RUN_LOADED);
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
  /// Leaves the ring as a recorder does that is killed: the chunk is open, and
  /// its header does not say how much is in it.
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
