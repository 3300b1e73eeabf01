// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "recorder/launch/SharedRing.h"
#include "recorder/launch/LaunchError.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

using namespace llvm;

namespace chronicle::launch {

namespace {
// Run words beyond one per instruction: those of events, and of the superblock
// that crosses the end of the block.
constexpr uint32_t SpareRunWords = 8192;
constexpr uint32_t EventBytes = 1 << 20;
constexpr uint64_t SpareStoreBytes = 65536;
constexpr uint32_t MostChunks = 128, FewestChunks = 8;
constexpr uint64_t DefaultRingBytes = 1 << 30;
} // namespace

ch_ring_header ringLayout(uint32_t BlockInstructions, uint32_t Chunks) {
  ch_ring_header H = {};
  H.magic = CH_RING_MAGIC;
  H.version = CH_STREAM_VERSION;
  H.chunk_count = Chunks;
  H.run_bytes =
      alignTo(4 * (uint64_t(BlockInstructions) + SpareRunWords), CH_PAGE_SIZE);
  H.event_bytes = EventBytes;
  H.store_bytes =
      alignTo(uint64_t(BlockInstructions) * CH_STORE_BYTES_PER_INSTRUCTION +
                  CH_MAX_SLOTS * CH_SLOT_SIZE + SpareStoreBytes,
              CH_PAGE_SIZE);
  H.chunk_stride = alignTo(sizeof(ch_chunk_header) + H.run_bytes +
                               H.event_bytes + H.store_bytes,
                           CH_PAGE_SIZE);
  H.block_instructions = BlockInstructions;
  return H;
}

uint32_t defaultRingChunks(uint32_t BlockInstructions) {
  const uint64_t Stride = ringLayout(BlockInstructions, 1).chunk_stride;
  return uint32_t(std::clamp<uint64_t>(DefaultRingBytes / Stride, FewestChunks,
                                       MostChunks));
}

size_t ringBytes(const ch_ring_header &Layout) {
  return CH_RING_HEADER_SIZE + Layout.chunk_count * Layout.chunk_stride;
}

Expected<SharedRing> SharedRing::create(uint32_t BlockInstructions,
                                        uint32_t Chunks) {
  ch_ring_header Layout = ringLayout(BlockInstructions, Chunks);
  SharedRing R;
  R.Size = ringBytes(Layout);
  R.Descriptor = memfd_create("chronicle-ring", MFD_CLOEXEC);
  if (R.Descriptor < 0)
    return launchErrorFromErrno(
        StatusOurFailure, "cannot create the shared memory for recording");
  if (ftruncate(R.Descriptor, R.Size) != 0)
    return launchErrorFromErrno(
        StatusOurFailure,
        "cannot create " + Twine(R.Size >> 20) +
            " MiB of shared memory for recording; check 'ulimit -f', or choose "
            "a smaller --block-instructions");
  void *Memory = mmap(nullptr, R.Size, PROT_READ | PROT_WRITE, MAP_SHARED,
                      R.Descriptor, 0);
  if (Memory == MAP_FAILED)
    return launchErrorFromErrno(StatusOurFailure,
                                "cannot map the shared memory for recording");
  R.Memory = Memory;
  *static_cast<ch_ring_header *>(Memory) = Layout;
  return R;
}

SharedRing::SharedRing(SharedRing &&Other)
    : Descriptor(std::exchange(Other.Descriptor, -1)),
      Memory(std::exchange(Other.Memory, nullptr)), Size(Other.Size) {}

SharedRing::~SharedRing() {
  if (Memory)
    munmap(Memory, Size);
  if (Descriptor >= 0)
    close(Descriptor);
}

void SharedRing::closeDescriptor() {
  if (Descriptor >= 0)
    close(Descriptor);
  Descriptor = -1;
}

bool SharedRing::used() const {
  auto *Header = static_cast<ch_ring_header *>(Memory);
  if (__atomic_load_n(&Header->published, __ATOMIC_ACQUIRE))
    return true;
  auto *Run =
      reinterpret_cast<ch_u32 *>(static_cast<char *>(Memory) +
                                 CH_RING_HEADER_SIZE + sizeof(ch_chunk_header));
  return __atomic_load_n(Run, __ATOMIC_RELAXED) != 0;
}

} // namespace chronicle::launch
