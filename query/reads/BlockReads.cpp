// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/reads/BlockReads.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::reads {

namespace {

/// Finds the superblocks of a replay that read the range.
class Finder : public machine::StoreObserver {
public:
  Finder(state::StateCursor &Cursor, answers::AddressRange Range)
      : StoreObserver(/*SeesLoads=*/true), Cursor(Cursor),
        Watch(Cursor.memory(), Range) {
    replay::BlockReplayer &Replayer = Cursor.replayer();
    Replayer.setForm(program::ProgramForm::AllLoads);
    Replayer.Observer = this;
    Replayer.OnEvent = [this](const Event &E, Timestamp) { Watch.event(E); };
  }
  void store(uint32_t, uint64_t, uint32_t, const uint8_t *,
             const uint8_t *) override {}
  void load(uint32_t, uint64_t Address, uint32_t Size,
            const uint8_t *) override {
    if (!Watch.overlaps(Address, Size))
      return;
    const Timestamp Start = Cursor.replayer().superblockStart();
    if (Superblocks.empty() || Superblocks.back() != Start)
      Superblocks.push_back(Start);
  }

  std::vector<Timestamp> Superblocks; ///< when they were entered

private:
  state::StateCursor &Cursor;
  search::WatchedRange Watch;
};

/// Turns the loads of exact programs into reads.
class Maker : public machine::StoreObserver {
public:
  Maker(state::StateCache &Cache, state::StateCursor &Cursor,
        answers::AddressRange Range)
      : StoreObserver(/*SeesLoads=*/true), Cache(Cache), Cursor(Cursor),
        Watch(Cursor.memory(), Range) {
    Cursor.replayer().setForm(program::ProgramForm::AllLoads);
    Cursor.replayer().OnEvent = [this](const Event &E, Timestamp) {
      Watch.event(E);
    };
  }
  void store(uint32_t, uint64_t, uint32_t, const uint8_t *,
             const uint8_t *) override {}
  void load(uint32_t Instruction, uint64_t Address, uint32_t Size,
            const uint8_t *Bytes) override {
    if (!Watch.overlaps(Address, Size))
      return;
    const replay::BlockReplayer &Replayer = Cursor.replayer();
    const uint32_t Superblock =
        Cache.exits().superblock(Cursor.block().Symbols[Replayer.executions()]);
    answers::Read R;
    R.Time = Replayer.superblockStart() + Instruction;
    R.Thread = Replayer.thread();
    // The superblock is running, so its program exists.
    R.Pc =
        cantFail(Cache.programs().get(Superblock, program::ProgramForm::Fast))
            ->address(Instruction);
    R.Address = Address;
    R.Bytes.assign(Bytes, Bytes + Size);
    Found.push_back(std::move(R));
  }
  /// The reads of the superblock that is entered at Start.
  Error make(Timestamp Start) {
    if (Error E = Cursor.runTo(Start))
      return E;
    Cursor.replayer().Observer = this;
    // Only the exact program can stop inside.
    if (Error E = Cursor.runTo(Start + 1))
      return E;
    if (Error E = Cursor.finishSuperblock())
      return E;
    Cursor.replayer().Observer = nullptr;
    return Error::success();
  }

  std::vector<answers::Read> Found;

private:
  state::StateCache &Cache;
  state::StateCursor &Cursor;
  search::WatchedRange Watch;
};

} // namespace

/// Shows the reads of superblocks that all come after the checkpoint.
Expected<bool> BlockReads::show(size_t Checkpoint,
                                ArrayRef<Timestamp> Superblocks) {
  // Most backward searches want one read, so they start with the last one.
  size_t Most = Backward ? 1 : Superblocks.size();
  while (!Superblocks.empty()) {
    if (Cancel && Cancel->Cancelled)
      return false;
    const size_t Count = std::min(Most, Superblocks.size());
    Most *= 4;
    Expected<state::StateCursor> Cursor =
        Cache.atCheckpoint(History, Checkpoint);
    if (!Cursor)
      return Cursor.takeError();
    Maker Make(Cache, *Cursor, Range);
    for (Timestamp Start : Backward ? Superblocks.take_back(Count)
                                    : Superblocks.take_front(Count)) {
      if (Error E = Make.make(Start))
        return E;
      if (Backward)
        continue;
      for (const answers::Read &R : std::exchange(Make.Found, {}))
        if (R.Time >= When.First && R.Time <= When.Last && !Visit(R))
          return false;
    }
    for (const answers::Read &R : reverse(Make.Found))
      if (R.Time >= When.First && R.Time <= When.Last && !Visit(R))
        return false;
    Superblocks =
        Backward ? Superblocks.drop_back(Count) : Superblocks.drop_front(Count);
  }
  return true;
}

/// Searches from a checkpoint to Stop.
Expected<bool> BlockReads::search(size_t Checkpoint, Timestamp Stop) {
  std::vector<Timestamp> Superblocks;
  {
    Expected<state::StateCursor> Cursor =
        Cache.atCheckpoint(History, Checkpoint);
    if (!Cursor)
      return Cursor.takeError();
    Finder Find(*Cursor, Range);
    if (Error E = Cursor->runTo(Stop))
      return E;
    Superblocks = std::move(Find.Superblocks);
  }
  erase_if(Superblocks, [&](Timestamp Start) {
    return Start > When.Last || Start + state::LongestSuperblock < When.First;
  });
  return show(Checkpoint, Superblocks);
}

Expected<bool> BlockReads::visit() {
  Expected<std::shared_ptr<state::BlockHistory>> H = Cache.history(N);
  if (!H)
    return H.takeError();
  History = *H;
  const Timestamp End =
      std::min(When.Last == ~Timestamp(0) ? When.Last : When.Last + 1,
               History->endTime());
  // The first replay of a block makes its checkpoints. Other threads may add
  // some meanwhile.
  {
    Expected<state::StateCursor> Cursor = Cache.in(N, End);
    if (!Cursor)
      return Cursor.takeError();
  }
  size_t First = When.First ? History->checkpointBefore(When.First - 1) : 0;
  // A superblock that was entered before the checkpoint's time is not seen from
  // it, but no checkpoint is inside a superblock.
  size_t Last = History->checkpointBefore(End);
  std::vector<std::pair<size_t, Timestamp>> Stretches;
  for (size_t I = First; I <= Last; ++I) {
    const Timestamp Stop =
        I < Last ? History->checkpoint(I + 1).Position.Time : End;
    if (I < Last || History->checkpoint(I).Position.Time < End)
      Stretches.emplace_back(I, Stop);
  }
  if (Backward)
    std::reverse(Stretches.begin(), Stretches.end());
  for (auto [I, Stop] : Stretches) {
    if (Cancel && Cancel->Cancelled)
      return false;
    Expected<bool> More = search(I, Stop);
    if (!More || !*More)
      return More;
  }
  return true;
}

} // namespace chronicle::reads
