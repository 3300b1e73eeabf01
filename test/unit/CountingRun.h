// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A trace of a program that counts, made by hand. It is easy to say what its
/// registers and memory hold at any moment. The trace can be made wrong in
/// several ways.

#ifndef CHRONICLE_TEST_UNIT_COUNTINGRUN_H
#define CHRONICLE_TEST_UNIT_COUNTINGRUN_H

#include "indexer/Indexer.h"
#include "query/replay/BlockReplayer.h"
#include "test/support/ProgramWriter.h"
#include "test/support/RingBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <sys/mman.h>
#include <thread>

namespace chronicle {

/// What a recorder would send for a program that counts: one superblock at
/// 0x1000, "store RAX at RBX; RBX += 8; RAX += 1", over and over.
struct CountingRun {
  unsigned Blocks = 40, PerBlock = 30;
  // The block in which something is wrong.
  unsigned WrongValueIn = ~0u, WrongAddressIn = ~0u, WrongSnapshotIn = ~0u,
           LostStoreIn = ~0u, WrongOrdinalIn = ~0u;
  bool WrongFinalSnapshot = false, NoEnd = false;
  std::string EndReason = "killed"; ///< without a record of the end
};

/// Records such runs into a file that is removed after the test.
class CountingRunTest : public testing::Test {
protected:
  void SetUp() override {
    llvm::SmallString<128> Name;
    ASSERT_FALSE(
        llvm::sys::fs::createTemporaryFile("counting-run", "db", Name));
    Path = Name.str().str();
  }
  void TearDown() override { (void)llvm::sys::fs::remove(Path); }

  void record(const CountingRun &Run) {
    RingBuilder Ring;
    indexer::IndexerOptions O;
    O.Path = Path;
    O.Overwrite = true;
    O.Run = llvm::json::Object{{"program", "/bin/test"}};
    auto Index = indexer::Indexer::create(O, Ring.memory(), Ring.bytes());
    ASSERT_TRUE(bool(Index)) << llvm::toString(Index.takeError());
    std::thread Thread([&] { (*Index)->run(); });
    send(Ring, Run);
    if (Run.NoEnd)
      (*Index)->recorderGone();
    Thread.join();
    indexer::EndInfo Info;
    Info.Reason = Run.EndReason;
    llvm::Expected<indexer::IndexSummary> S = (*Index)->finish(Info);
    ASSERT_TRUE(bool(S)) << llvm::toString(S.takeError());
  }

  void send(RingBuilder &Ring, const CountingRun &Run) {
    ProgramWriter W(0x1000);
    W.instruction(4);
    ProgramWriter::Value Rax = W.get(CH_I64, CH_OFFSET_RAX),
                         Rbx = W.get(CH_I64, CH_OFFSET_RBX);
    W.store(Rbx, Rax);
    W.exit(
        W.operation("CmpEQ64", {Rax, ProgramWriter::constant(CH_I64, 1000000)}),
        0x9000);
    W.instruction(4);
    W.put(CH_OFFSET_RBX,
          W.operation("Add64", {Rbx, ProgramWriter::constant(CH_I64, 8)}));
    W.instruction(4);
    W.put(CH_OFFSET_RAX,
          W.operation("Add64", {Rax, ProgramWriter::constant(CH_I64, 1)}));
    Ring.define(1, W.finish(ProgramWriter::constant(CH_I64, 0x1000)));
    ch_ev_map Map = {};
    Map.address = 0x100000;
    Map.length = 0x100000;
    Ring.event(CH_EV_MAP, Map);
    ch_ev_map Code = {};
    Code.address = 0x1000;
    Code.length = 0x1000;
    Code.protection = PROT_READ | PROT_EXEC;
    Ring.event(CH_EV_MAP, Code);
    Ring.event(CH_EV_THREAD_START, ch_ev_thread_start{1, 0, 4711});
    Ring.publish(CH_CHUNK_BLOCK_END);

    replay::GuestState State{};
    auto Word = [&](uint32_t Offset, uint64_t Value) {
      operations::storeValue(State.data() + Offset, Value);
    };
    uint64_t Rip = 0x1000, Count = 3, Address = 0x100004;
    for (unsigned Block = 1; Block <= Run.Blocks; ++Block) {
      Word(CH_OFFSET_RIP, Rip);
      Word(CH_OFFSET_RSP, 0x1f0000);
      Word(CH_OFFSET_RAX, Count);
      Word(CH_OFFSET_RBX, Address);
      Word(CH_OFFSET_CC_OP, Run.WrongSnapshotIn <= Block);
      Ring.event(CH_EV_SNAPSHOT, ch_ev_snapshot{1, 0}, State);
      Ring.event(CH_EV_RESUME, ch_ev_thread{1, 0});
      for (unsigned I = 0; I < Run.PerBlock; ++I) {
        const bool Here = I == 7;
        Ring.execute(1, Here && Run.WrongOrdinalIn == Block ? 1 : 2);
        uint64_t At = Address, Value = Count;
        if (Here && Run.WrongValueIn == Block)
          Value += 1000;
        if (Here && Run.WrongAddressIn == Block)
          At += 0x20000;
        if (Here && Run.LostStoreIn == Block)
          At = 0x170000; // somewhere that replay does not write
        Ring.slot(At, Value);
        Address += 8;
        ++Count;
        if (Ring.full())
          Ring.publish(0);
      }
      if (Block < Run.Blocks)
        Ring.publish(CH_CHUNK_BLOCK_END);
    }
    if (Run.NoEnd) {
      Ring.publish(CH_CHUNK_BLOCK_END);
      Ring.die();
      return;
    }
    Word(CH_OFFSET_RAX, Count + Run.WrongFinalSnapshot);
    Word(CH_OFFSET_RBX, Address);
    Ring.event(CH_EV_SNAPSHOT, ch_ev_snapshot{1, 0}, State);
    Ring.event(CH_EV_END, ch_ev_end{CH_END_EXIT, 0});
    Ring.publish(CH_CHUNK_BLOCK_END | CH_CHUNK_LAST);
  }

  std::string Path;
};

} // namespace chronicle

#endif
