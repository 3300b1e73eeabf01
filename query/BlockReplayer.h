// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Replays one block: its superblocks in the recorded order, with what came
/// from outside in between.

#ifndef CHRONICLE_QUERY_BLOCKREPLAYER_H
#define CHRONICLE_QUERY_BLOCKREPLAYER_H

#include "query/NativeCode.h"
#include "trace-format/TraceReader.h"
#include "llvm/ADT/DenseMap.h"
#include <array>
#include <functional>
#include <string>
#include <vector>

namespace chronicle {

/// What a symbol means: which superblock, left by which exit. Four bytes an
/// exit and a superblock; made once a trace.
class ExitTable {
public:
  explicit ExitTable(const TraceReader &Trace);
  /// For tests: the exits (side exits plus one) of superblocks 0, 1, ...; 0 for
  /// one that does not exist.
  explicit ExitTable(llvm::ArrayRef<uint32_t> ExitsOfSuperblock);

  uint32_t size() const { return static_cast<uint32_t>(Superblocks.size()); }
  uint32_t superblock(uint32_t Exit) const { return Superblocks[Exit]; }
  uint32_t ordinal(uint32_t Exit) const {
    return Exit - FirstExits[Superblocks[Exit]] + 1;
  }
  uint32_t firstExit(uint32_t Superblock) const {
    return FirstExits[Superblock];
  }

private:
  std::vector<uint32_t> Superblocks; ///< by exit
  std::vector<uint32_t> FirstExits;  ///< by superblock
};

using GuestState = std::array<uint8_t, CH_GUEST_STATE_SIZE>;

/// One difference between two states of a thread that should be the same, or
/// "": all registers but those that the replayed program cannot see (emulation
/// notes, and the ranges cache flushes and redirections work on).
std::string describeDifference(const uint8_t *Found, const uint8_t *Expected);

/// Something that is not as it was recorded.
struct Mismatch {
  BlockNumber Block = 0;
  Timestamp Time = 0;
  uint32_t Thread = 0;
  uint32_t Superblock = 0; ///< the last one that ran; 0: none
  uint64_t SuperblockAddress = 0;
  std::string What;
};

/// Where a replay is, between two superblocks: with the memory of that moment,
/// another replay can go on from here. About a kilobyte a thread.
struct ReplayPosition {
  Timestamp Time = 0;
  uint64_t Execution = 0;
  size_t NextEvent = 0;
  size_t OpaqueLeft = 0;
  uint32_t Current = 0;
  std::vector<std::pair<uint32_t, GuestState>> States; ///< of all threads
  std::vector<const Event *> Pending;
};

/// Memory and programs outlive it and may be shared by many blocks, one after
/// the other. Replaying costs about what Interpreter says; stopping inside a
/// superblock decodes its exact program.
class BlockReplayer {
public:
  BlockReplayer(ReplayMemory &Memory, ProgramCache &Programs,
                const ExitTable &Exits);

  std::function<void(const Mismatch &)> OnMismatch;
  /// Called with a thread's first snapshot in a block, before it is used.
  std::function<void(uint32_t Thread, const uint8_t *State)> OnSnapshot;
  /// Called before an event takes effect, with the time from which it is seen.
  std::function<void(const Event &, Timestamp)> OnEvent;
  StoreObserver *Observer = nullptr;
  /// Runs what runs often as native code, unless there is an observer. Shared
  /// by replayers, for those who replay a lot.
  NativeCode *Native = nullptr;

  /// Goes to the start of a block. The memory must be that of its start.
  void start(const Block &B);
  /// Runs to the state at T, or to the end of the block if T is beyond. False
  /// if what was replayed left the recorded path: what follows is meaningless.
  bool runTo(Timestamp T);
  bool runToEnd() { return runTo(~Timestamp(0)); }
  /// Runs to the end of the superblock under way, if one is.
  bool finishSuperblock();

  /// Not inside a superblock.
  bool canSave() const { return !Inside; }
  ReplayPosition save() const;
  /// Goes to where another replay of the block was. The memory must be that of
  /// then.
  void restore(const Block &B, const ReplayPosition &P);

  Timestamp time() const { return Time; }
  /// When the superblock under way was entered.
  Timestamp superblockStart() const { return Inside ? Time - InsideAt : Time; }
  uint32_t thread() const { return Current; }
  /// A thread's state, or null if it has none in the block so far.
  const uint8_t *state(uint32_t Thread) const;
  std::vector<uint32_t> threads() const;
  /// Executions complete; symbol executions() is the next.
  uint64_t executions() const { return Execution; }
  size_t opaqueLeft() const { return Machine.opaqueLeft(); }

private:
  /// How the next execution goes.
  struct Ahead {
    const ReplayProgram *Program;
    uint32_t Superblock;
    uint32_t Ordinal; ///< of the exit it leaves by, unless it faults
    uint32_t Passed;  ///< instructions
    bool Faults;
    uint64_t FaultRip;
  };

  /// Exits that were taken, each at the place that the low bits of its number
  /// say: a table of all exits would be megabytes, with a page of memory for
  /// every few that are used. 40 bytes each.
  struct KnownExit {
    uint32_t Number; ///< plus 1
    uint32_t Runs;   ///< interpreted, since it is known
    ReplayExit Exit;
    NativeProgram Program; ///< or null
  };
  /// Enough that programs of a few runs get no native code; not tuned.
  static constexpr uint32_t RunsUntilNative = 32;
  static constexpr uint32_t KnownExits = 1 << 13;

  void runPlain(Timestamp T);
  uint32_t interpret(KnownExit &K);
  bool lookAhead(Ahead &A);
  bool applyEvents();
  bool apply(const Event &E);
  bool execute(Timestamp T, bool &Reached);
  bool runWithStops(uint32_t Superblock, uint32_t Last, uint32_t &Ordinal);
  const Event *nextEvent() const;
  void switchTo(uint32_t Thread);
  uint8_t *stateForChange(uint32_t Thread);
  bool mismatch(const llvm::Twine &What);
  bool wrongExit(uint32_t Ordinal, uint32_t Expected);

  ReplayMemory &Memory;
  ProgramCache &Programs;
  const ExitTable &Exits;
  Interpreter Machine;
  ZeroedTable<KnownExit> Known{KnownExits};
  const Block *B = nullptr;
  Timestamp Time = 0;
  uint64_t Execution = 0;
  size_t NextEvent = 0;
  uint32_t Current = 0;
  uint32_t LastSuperblock = 0;
  uint64_t LastAddress = 0;
  uint32_t WrongExit = 0; ///< runPlain's: what it left by
  /// Stopped inside the superblock of symbol Execution, at this instruction.
  bool Inside = false;
  uint32_t InsideAt = 0;
  llvm::DenseMap<uint32_t, GuestState> Stopped; ///< all threads but Current
  /// Writes from outside that the next superblock's loads found.
  std::vector<const Event *> Pending;
};

} // namespace chronicle

#endif
