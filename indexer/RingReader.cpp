// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "indexer/RingReader.h"
#include <climits>
#include <cstring>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle::indexer {

static uint64_t chunkBytes(const ch_ring_header &H) {
  return sizeof(ch_chunk_header) + uint64_t(H.run_bytes) + H.event_bytes +
         H.store_bytes;
}

Expected<RingReader> RingReader::create(void *Memory, size_t Bytes) {
  RingReader R;
  if (Bytes < CH_RING_HEADER_SIZE)
    return createStringError("the ring is too small");
  R.Header = static_cast<ch_ring_header *>(Memory);
  std::memcpy(&R.Layout, Memory, sizeof(R.Layout));
  const ch_ring_header &H = R.Layout;
  if (H.magic != CH_RING_MAGIC)
    return createStringError("the ring has no header");
  if (H.version != CH_STREAM_VERSION)
    return createStringError(
        "the recorder's stream has version %u, the indexer reads %u",
        unsigned(H.version), CH_STREAM_VERSION);
  uint64_t Room = Bytes - CH_RING_HEADER_SIZE;
  if (!H.chunk_count || H.store_bytes > Room ||
      chunkBytes(H) > H.chunk_stride || H.chunk_stride > Room / H.chunk_count ||
      H.run_bytes % 8 || H.event_bytes % 8)
    return createStringError("the ring's layout is invalid");
  R.Chunks = static_cast<uint8_t *>(Memory) + CH_RING_HEADER_SIZE;
  R.Consumed = H.consumed;
  return R;
}

uint8_t *RingReader::slot() const {
  return Chunks + Layout.chunk_stride * (Consumed % Layout.chunk_count);
}

bool RingReader::ready(uint32_t &Published) const {
  Published = __atomic_load_n(&Header->published, __ATOMIC_SEQ_CST);
  // The recorder knows better than a counter that the program has overwritten,
  // and corrects it with the next chunk.
  return Published != Consumed && Published - Consumed <= Layout.chunk_count;
}

bool RingReader::wait(unsigned Milliseconds) {
  uint32_t Published;
  if (ready(Published) || !Milliseconds)
    return ready(Published);
  __atomic_store_n(&Header->indexer_waits, 1, __ATOMIC_SEQ_CST);
  if (!ready(Published)) {
    timespec Time = {Milliseconds / 1000, long(Milliseconds % 1000) * 1000000};
    ::syscall(SYS_futex, &Header->published, FUTEX_WAIT, Published, &Time,
              nullptr, 0);
  }
  __atomic_store_n(&Header->indexer_waits, 0, __ATOMIC_SEQ_CST);
  if (ready(Published))
    return true;
  // Perhaps the recorder waits for room because the program has overwritten
  // this counter.
  __atomic_store_n(&Header->consumed, Consumed, __ATOMIC_SEQ_CST);
  ::syscall(SYS_futex, &Header->consumed, FUTEX_WAKE, INT_MAX, nullptr, nullptr,
            0);
  return false;
}

Expected<RingChunk> RingReader::chunk() const {
  const uint8_t *Slot = slot();
  ch_chunk_header C;
  std::memcpy(&C, Slot, sizeof(C));
  if (C.run_words > Layout.run_bytes / 4 || C.event_used > Layout.event_bytes ||
      C.store_used > Layout.store_bytes)
    return createStringError("a chunk claims more than it has room for");
  RingChunk Result;
  Slot += sizeof(C);
  Result.Run = ArrayRef(reinterpret_cast<const uint32_t *>(Slot), C.run_words);
  Slot += Layout.run_bytes;
  Result.Events = ArrayRef(Slot, C.event_used);
  Slot += Layout.event_bytes;
  Result.Stores = ArrayRef(Slot, C.store_used);
  Result.BlockEnd = C.flags & CH_CHUNK_BLOCK_END;
  Result.Last = C.flags & CH_CHUNK_LAST;
  return Result;
}

/// A recorder that waits has filled the ring. It is woken once several chunks
/// are free rather than for every one, but early, because it is the slowest
/// part.
void RingReader::release() {
  uint8_t *Slot = slot();
  ch_chunk_header C;
  std::memcpy(&C, Slot, sizeof(C));
  std::memset(Slot + sizeof(C), 0,
              std::min(uint64_t(C.run_words) * 4, uint64_t(Layout.run_bytes)));
  __atomic_store_n(&Header->consumed, ++Consumed, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&Header->recorder_waits, __ATOMIC_SEQ_CST) &&
      __atomic_load_n(&Header->published, __ATOMIC_RELAXED) - Consumed <=
          Layout.chunk_count - Layout.chunk_count / 16 &&
      __atomic_exchange_n(&Header->recorder_waits, 0, __ATOMIC_SEQ_CST))
    ::syscall(SYS_futex, &Header->consumed, FUTEX_WAKE, INT_MAX, nullptr,
              nullptr, 0);
}

RingChunk RingReader::unfinished() const {
  RingChunk Result;
  const uint8_t *Slot = slot();
  ch_chunk_header C;
  std::memcpy(&C, Slot, sizeof(C));
  if (C.number != Consumed + 1)
    return Result;
  Slot += sizeof(C);
  const auto *Words = reinterpret_cast<const uint32_t *>(Slot);
  size_t Count = 0;
  while (Count < Layout.run_bytes / 4 && Words[Count])
    ++Count;
  // How far the last superblock got is not known.
  while (Count && Words[Count - 1] == CH_RUN_LOADED)
    --Count;
  if (Count && Words[Count - 1] != CH_RUN_EVENT)
    --Count;
  Result.Run = ArrayRef(Words, Count);
  Slot += Layout.run_bytes;
  Result.Events = ArrayRef(Slot, Layout.event_bytes);
  Slot += Layout.event_bytes;
  Result.Stores = ArrayRef(Slot, Layout.store_bytes);
  Result.Unfinished = true;
  return Result;
}

void RingReader::request(uint32_t Bits) {
  __atomic_fetch_or(&Header->requests, Bits, __ATOMIC_SEQ_CST);
}

} // namespace chronicle::indexer
