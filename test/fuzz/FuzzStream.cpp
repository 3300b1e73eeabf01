// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A recorded program that writes to the ring. The input is a list of places and
// what is written there, before the indexer reads it.

#include "Fuzzer.h"
#include "indexer/Indexer.h"
#include "test/support/ProgramWriter.h"
#include "test/support/RingBuilder.h"
#include "trace-format/GuestState.h"
#include "trace-format/file/TraceReader.h"
#include <cstdio>
#include <cstdlib>
#include <random>

using namespace chronicle;
using namespace llvm;

static constexpr uint32_t Chunks = 16;

/// A program that pushes, stores and calls, in one superblock, and events of
/// all kinds between.
static void fill(RingBuilder &Ring) {
  ProgramWriter W(0x1000);
  W.instruction(4);
  ProgramWriter::Value Rax = W.get(CH_I64, CH_OFFSET_RAX),
                       Rbx = W.get(CH_I64, CH_OFFSET_RBX);
  W.store(Rbx, Rax);
  W.instruction(4);
  W.put(CH_OFFSET_RBX,
        W.operation("Add64", {Rbx, ProgramWriter::constant(CH_I64, 8)}));
  Ring.define(1, W.finish(ProgramWriter::constant(CH_I64, 0x1000)));
  ch_ev_map Map = {};
  Map.address = 0x100000;
  Map.length = 0x100000;
  Ring.event(CH_EV_MAP, Map);
  Map.address = 0x300000;
  Map.flags = CH_MAP_SHARED;
  Map.object = 1;
  Ring.event(CH_EV_MAP, Map);
  Ring.event(CH_EV_THREAD_START, ch_ev_thread_start{1, 0, 4711});
  Ring.publish(CH_CHUNK_BLOCK_END);
  const std::vector<uint8_t> State(CH_GUEST_STATE_SIZE), Bytes(64, 7);
  for (unsigned Block = 1; Block + 1 < Chunks; ++Block) {
    Ring.event(CH_EV_SNAPSHOT, ch_ev_snapshot{1, 0}, State);
    Ring.event(CH_EV_RESUME, ch_ev_thread{1, 0});
    for (unsigned I = 0; I < 30; ++I) {
      Ring.execute(1, 1);
      Ring.slot(0x100000 + 8 * (I + 30 * Block), I);
    }
    Ring.event(CH_EV_SYSCALL_ENTER, ch_ev_syscall_enter{1, 1, {}});
    ch_ev_memory Memory = {};
    Memory.address = 0x110000;
    Memory.length = Bytes.size();
    Memory.source = CH_MEM_SYSCALL;
    Ring.event(CH_EV_MEMORY, Memory, Bytes);
    ch_ev_range Audit = {};
    Audit.address = 0x110000;
    Audit.length = Bytes.size();
    Ring.event(CH_EV_AUDIT, Audit, Bytes);
    Ring.event(CH_EV_SIGNAL, ch_ev_signal{1, 11, 0, 0, 0, 0});
    Ring.event(CH_EV_OUTPUT, ch_ev_output{1, 1}, Bytes);
    ch_ev_range Unmap = {};
    Unmap.address = 0x180000 + 0x1000 * Block;
    Unmap.length = 0x1000;
    Ring.event(CH_EV_UNMAP, Unmap);
    Ring.publish(CH_CHUNK_BLOCK_END);
  }
  Ring.event(CH_EV_END, ch_ev_end{CH_END_EXIT, 0});
  Ring.publish(CH_CHUNK_BLOCK_END | CH_CHUNK_LAST);
}

int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  RingBuilder Ring(Chunks, 1024, 8 << 10, 4 << 10);
  fill(Ring);
  indexer::IndexerOptions O;
  O.Path = "/dev/shm/fuzz-stream-" + std::to_string(::getpid()) + ".db";
  O.Overwrite = true;
  O.Workers = 1;
  O.Run = json::Object{{"program", "/bin/test"}};
  auto Index = indexer::Indexer::create(O, Ring.memory(), Ring.bytes());
  if (!Index) {
    std::fprintf(stderr, "%s\n", toString(Index.takeError()).c_str());
    std::exit(2);
  }
  auto *Words = static_cast<uint32_t *>(Ring.memory());
  for (; Size >= 8; Data += 8, Size -= 8)
    Words[support::endian::read32le(Data) % (Ring.bytes() / 4)] =
        support::endian::read32le(Data + 4);
  ++UsableInputs;
  (*Index)->recorderGone();
  (*Index)->run();
  indexer::EndInfo Info;
  Info.Reason = "killed";
  Expected<indexer::IndexSummary> S = (*Index)->finish(Info);
  if (!S) {
    consumeError(S.takeError());
    return 0;
  }
  if (!S->Blocks)
    return 0; // the first block was hit: nothing is left
  Index->reset();
  // What comes out is a trace, whatever went in.
  Expected<std::unique_ptr<file::TraceReader>> Trace =
      file::TraceReader::open(O.Path);
  if (!Trace) {
    std::fprintf(stderr, "%s\n", toString(Trace.takeError()).c_str());
    std::abort();
  }
  for (BlockNumber N = 0; N < (*Trace)->blocks().size(); ++N)
    if (Expected<Block> B = (*Trace)->readBlock(N); !B) {
      std::fprintf(stderr, "%s\n", toString(B.takeError()).c_str());
      std::abort();
    }
  return 0;
}

/// Some writes go to the parts of chunks that are in use, most of which are at
/// the beginning of an area.
size_t LLVMFuzzerCustomMutator(uint8_t *Data, size_t Size, size_t MaxSize,
                               unsigned Seed) {
  static const uint32_t Special[] = {0,          1,          2,
                                     0x7fffffff, 0x80000000, 0xfffffffd,
                                     0xfffffffe, 0xffffffff, 0x10000};
  std::mt19937 R(Seed);
  const uint32_t Stride = (sizeof(ch_chunk_header) + (13 << 10)) / 4;
  const uint32_t Areas[] = {0, 16, 16, 16 + 256, 16 + 256, 16 + 256 + 2048};
  const size_t Count = std::min<size_t>(MaxSize / 8, 1 + R() % 20);
  for (size_t N = 0; N < Count; ++N) {
    uint32_t At = R() % 10 == 0
                      ? R() % 32
                      : CH_RING_HEADER_SIZE / 4 + R() % Chunks * Stride +
                            Areas[R() % std::size(Areas)] +
                            R() % (N % 2 ? 16 : 200);
    support::endian::write32le(Data + 8 * N, At);
    support::endian::write32le(Data + 8 * N + 4,
                               R() % 2 ? Special[R() % std::size(Special)]
                                       : uint32_t(R() % 64));
  }
  return 8 * Count;
}
