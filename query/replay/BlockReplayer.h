// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Replays one block: its superblocks in the recorded order, and between them
/// the events that came from outside.

#ifndef CHRONICLE_QUERY_REPLAY_BLOCKREPLAYER_H
#define CHRONICLE_QUERY_REPLAY_BLOCKREPLAYER_H

#include "query/replay/ExitTable.h"
#include "query/replay/Mismatch.h"
#include "query/replay/ReplayPosition.h"
#include "query/replay/native/NativeCode.h"
#include "query/replay/program/ProgramCache.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>
#include <utility>
#include <vector>

namespace chronicle::replay {

/// Replays one block after the other. The memory and the programs must outlive
/// it. Replaying costs about what Interpreter says; stopping inside a
/// superblock needs its exact program, which may have to be built.
class BlockReplayer final : machine::SwapListener {
public:
  BlockReplayer(machine::ReplayMemory &Memory, program::ProgramCache &Programs,
                const ExitTable &Exits);

  std::function<void(const Mismatch &)> OnMismatch;
  /// Called with a thread's first snapshot in a block, before it is used.
  std::function<void(uint32_t Thread, const uint8_t *State)> OnSnapshot;
  /// Called before an event takes effect, with the time from which it is seen.
  std::function<void(const Event &, Timestamp)> OnEvent;
  machine::StoreObserver *Observer = nullptr;
  /// If set, hot superblocks run as native code unless there is an observer.
  /// May be shared by several replayers. Worth it for callers that replay a
  /// lot.
  native::NativeCode *Native = nullptr;

  /// The form of program that superblocks run as where replay does not stop
  /// inside them. Fast, unless the caller needs all loads or, of each access,
  /// the instruction.
  void setForm(program::ProgramForm F) {
    if (F != std::exchange(Form, F))
      for (uint32_t I = 0; I < KnownExits; ++I)
        Known[I].Number = 0;
  }

  /// Goes to the start of a block. The memory must be as it is at its start.
  void start(const Block &B);
  /// Runs to the state at T, or to the end of the block if T is beyond. False
  /// if replay left the recorded path: everything after that is meaningless.
  bool runTo(Timestamp T);
  bool runToEnd() { return runTo(~Timestamp(0)); }
  /// Runs until so many executions of the block are complete, and the events
  /// before the next one have happened; or to the end of the block.
  bool runToExecution(uint64_t N) {
    StopExecution = N;
    const bool OnPath = runToEnd();
    StopExecution = ~uint64_t(0);
    return OnPath;
  }
  /// Runs to the end of the superblock if it stopped inside one.
  bool finishSuperblock();

  /// Whether it is between two superblocks.
  bool canSave() const { return !Inside; }
  ReplayPosition save() const;
  /// Goes to where another replay of the block was. The memory must be as it
  /// was there.
  void restore(const Block &B, const ReplayPosition &P);

  Timestamp time() const { return Time; }
  /// When the superblock that it is inside of was entered; otherwise time().
  Timestamp superblockStart() const { return Inside ? Time - InsideAt : Time; }
  uint32_t thread() const { return Current; }
  /// A thread's state, or null if the block had no snapshot of it so far.
  const uint8_t *state(uint32_t Thread) const;
  std::vector<uint32_t> threads() const;
  /// How many executions are complete; symbol executions() comes next.
  uint64_t executions() const { return Execution; }
  size_t opaqueLeft() const { return Machine.opaqueLeft(); }

private:
  /// How the next execution goes in the recorded run.
  struct Ahead {
    const program::ReplayProgram *Program;
    uint32_t Superblock;
    uint32_t Ordinal; ///< of the exit it leaves by, unless it faults
    uint32_t Passed;  ///< instructions
    bool Faults;
    uint64_t FaultRip;
  };

  /// An exit that was taken before, at the place in Known that the low bits of
  /// its number say. A table of all exits would take megabytes, with a page of
  /// memory for every few that are used. Takes 40 bytes.
  struct KnownExit {
    uint32_t Number; ///< plus 1
    uint32_t Runs;   ///< interpreted since it is in the table
    program::ReplayExit Exit;
    native::NativeProgram Program; ///< or null
  };
  /// Enough that programs which run a few times get no native code; not tuned.
  static constexpr uint32_t RunsUntilNative = 32;
  static constexpr uint32_t KnownExits = 1 << 13;

  void runPlain(Timestamp T);
  uint32_t interpret(KnownExit &K);
  bool lookAhead(Ahead &A);
  bool applyEvents();
  bool apply(const Event &E);
  bool applySnapshot(const Event &E);
  bool applyRegisters(const Event &E);
  bool applyMemory(const Event &E);
  bool execute(Timestamp T, bool &Reached);
  bool runWithStops(uint32_t Superblock, uint32_t Last, uint32_t &Ordinal);
  void writePending(uint32_t Instruction, bool AtSwap, Timestamp T);
  void beforeSwap(uint32_t Instruction) override;
  const Event *nextEvent() const;
  void switchTo(uint32_t Thread);
  uint8_t *stateForChange(uint32_t Thread);
  bool mismatch(const llvm::Twine &What);
  bool damaged(const Event &E);
  bool unknownThread(uint32_t Thread);
  bool wrongExit(uint32_t Ordinal, uint32_t Expected);

  machine::ReplayMemory &Memory;
  program::ProgramCache &Programs;
  const ExitTable &Exits;
  machine::Interpreter Machine;
  ZeroedTable<KnownExit> Known{KnownExits};
  const Block *B = nullptr;
  Timestamp Time = 0;
  program::ProgramForm Form = program::ProgramForm::Fast;
  uint64_t Execution = 0;
  uint64_t StopExecution = ~uint64_t(0); ///< of runToExecution()
  size_t NextEvent = 0;
  uint32_t Current = 0;
  uint32_t LastSuperblock = 0;
  uint64_t LastAddress = 0;
  uint32_t WrongExit =
      0; ///< the exit by which runPlain() left the recorded path
  /// Whether it stopped inside the superblock of symbol Execution, and before
  /// which instruction.
  bool Inside = false;
  uint32_t InsideAt = 0;
  llvm::DenseMap<uint32_t, GuestState> Stopped; ///< all threads but Current
  /// Writes from outside that loads of the next superblock found.
  std::vector<const Event *> Pending;
  Timestamp SuperblockStart = 0; ///< of the superblock that runs with stops
};

} // namespace chronicle::replay

#endif
