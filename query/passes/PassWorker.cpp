// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/passes/PassWorker.h"
#include "trace-format/Text.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::passes {

SharedReplay::SharedReplay(const file::TraceReader &Trace, PassNeeds Wanted)
    : Trace(Trace), Needs(std::move(Wanted)), Exits(Trace), Programs(Trace),
      Native(Trace.superblockCount(), Needs.ReadGranules) {
  if (Needs.Entries.empty())
    return;
  Enters.resize(Trace.superblockCount());
  for (auto [Id, Address] : enumerate(Trace.superblockAddresses()))
    Enters[Id] = Needs.Entries.contains(Address);
}

PassWorker::PassWorker(SharedReplay &S, BlockNumber First, uint64_t MostBytes)
    : StoreObserver(/*SeesLoads=*/true), S(S), MostBytes(MostBytes),
      Pages(S.Trace), Memory(Pages, First, S.Needs.ReadGranules),
      Replayer(Memory, S.Programs, S.Exits) {
  skipTo(First);
  if (S.Needs.Accesses) {
    // Only exact programs know the instruction of an access.
    Replayer.setForm(program::ProgramForm::Exact);
    Replayer.Observer = this;
  } else {
    if (S.Needs.ReadGranules)
      Replayer.setForm(program::ProgramForm::AllLoads);
    Replayer.Native = &S.Native;
  }
  if (S.Needs.Events)
    Replayer.OnEvent = [this](const Event &E, Timestamp T) {
      Observed->event(E, T);
    };
  Replayer.OnMismatch = [this](const replay::Mismatch &M) {
    if (Problem.empty())
      Problem = M.What;
  };
}

void PassWorker::skipTo(BlockNumber N) {
  Memory.reset(N);
  replay::mapSharedObjects(S.Trace, N, Memory);
}

Access PassWorker::access(uint32_t Instruction, uint64_t Address, uint32_t Size,
                          const uint8_t *Bytes) const {
  const uint32_t Superblock =
      S.Exits.superblock(Current->Symbols[Replayer.executions()]);
  // The superblock is running, so its program exists.
  const program::ReplayProgram *Program =
      cantFail(S.Programs.get(Superblock, program::ProgramForm::Exact));
  return {Replayer.superblockStart() + Instruction, Replayer.thread(),
          Program->address(Instruction), Address, ArrayRef(Bytes, Size)};
}

void PassWorker::store(uint32_t Instruction, uint64_t Address, uint32_t Size,
                       const uint8_t *, const uint8_t *New) {
  Observed->store(access(Instruction, Address, Size, New));
}

void PassWorker::load(uint32_t Instruction, uint64_t Address, uint32_t Size,
                      const uint8_t *Bytes) {
  Observed->load(access(Instruction, Address, Size, Bytes));
}

/// Replays the block, and stops at the entries.
bool PassWorker::run(const Block &B) {
  if (S.Needs.Entries.empty())
    return Replayer.runToEnd();
  SmallVector<uint64_t, 8> Watched;
  ArrayRef<uint64_t> Addresses = S.Trace.superblockAddresses();
  for (uint64_t I = 0; I < B.Symbols.size(); ++I) {
    // Replay reports an exit that does not exist.
    if (B.Symbols[I] >= S.Exits.size())
      break;
    const uint32_t Superblock = S.Exits.superblock(B.Symbols[I]);
    const uint64_t Address = Addresses[Superblock];
    if (!S.Enters[Superblock] && !is_contained(Watched, Address))
      continue;
    if (!Replayer.runToExecution(I))
      return false;
    const uint8_t *State = Replayer.state(Replayer.thread());
    if (!State)
      break;
    for (uint64_t More : Observed->entry(
             {Replayer.time(), Replayer.thread(), Address, State, Memory}))
      if (!is_contained(Watched, More))
        Watched.push_back(More);
  }
  return Replayer.runToEnd();
}

void PassWorker::collectReads() {
  std::vector<FrameReads> Reads;
  Reads.reserve(Memory.readFrames().size());
  for (const machine::ReplayFrame *Frame : Memory.readFrames()) {
    FrameReads R;
    R.Frame = Frame->Number;
    Frame->readGranules(R.Granules);
    Reads.push_back(R);
  }
  Memory.clearReads();
  llvm::sort(Reads, [](const FrameReads &A, const FrameReads &B) {
    return A.Frame < B.Frame;
  });
  Observed->reads(std::move(Reads));
}

Error PassWorker::replay(BlockNumber N, const Block &B, BlockObserver &To) {
  Current = &B;
  Observed = &To;
  Replayer.start(B);
  const bool OnPath =
      run(B) && Replayer.time() == B.First + B.Instructions && Problem.empty();
  Error Failed = Memory.takeError();
  if (!OnPath || Failed) {
    std::string Why = Failed ? toString(std::move(Failed)) : Problem;
    return createStringError("block " + Twine(N) + ", from time " +
                             groupedDigits(B.First) +
                             " on, cannot be replayed: " + Why +
                             "; 'chronicle verify' checks the whole trace");
  }
  if (S.Needs.ReadGranules)
    collectReads();
  if (Memory.bytes() > MostBytes)
    skipTo(N + 1);
  return Error::success();
}

} // namespace chronicle::passes
