// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Runs replay programs.

#ifndef CHRONICLE_QUERY_REPLAY_MACHINE_INTERPRETER_H
#define CHRONICLE_QUERY_REPLAY_MACHINE_INTERPRETER_H

#include "query/replay/machine/ReplayMemory.h"
#include "query/replay/machine/StoreObserver.h"
#include "query/replay/program/ReplayProgram.h"
#include "trace-format/GuestState.h"

namespace chronicle::machine {

/// Is called before each compare-and-swap of an exact program, and may change
/// memory then: something else may have written it since the same instruction
/// loaded it.
class SwapListener {
public:
  virtual void beforeSwap(uint32_t Instruction) = 0;

protected:
  ~SwapListener() = default;
};

/// The registers and temps of one replay, and its place in the opaque bytes.
/// May be used by one thread at a time. An operation costs one to two
/// nanoseconds, and a guest instruction is one to three operations in a fast
/// program.
class Interpreter {
public:
  /// As Stop, the instruction to stop before: none, it runs to an exit. Only
  /// exact programs can stop.
  static constexpr uint32_t NoStop = ~0u;
  /// What run() returns if it did not leave by an exit.
  static constexpr uint32_t Stopped = ~0u, OutOfOpaque = ~0u - 1;

  explicit Interpreter(ReplayMemory &Memory);

  uint8_t *state() { return Frame; }
  const uint8_t *state() const { return Frame; }
  uint64_t rip() const {
    return operations::loadValue<uint64_t>(Frame + CH_OFFSET_RIP);
  }
  void setRip(uint64_t Rip) {
    operations::storeValue(Frame + CH_OFFSET_RIP, Rip);
  }

  void setOpaque(llvm::ArrayRef<uint8_t> Bytes) {
    Opaque = Bytes.begin();
    OpaqueEnd = Bytes.end();
  }
  size_t opaqueLeft() const { return OpaqueEnd - Opaque; }

  /// Null: nothing listens.
  void setSwapListener(SwapListener *Listener) { OnSwap = Listener; }

  /// Runs a superblock's program from its start. Returns the ordinal of the
  /// exit it left by, with RIP set, or Stopped, or OutOfOpaque. It is slower
  /// with an observer.
  uint32_t run(const program::ReplayOp *Code, uint32_t Stop = NoStop,
               StoreObserver *Observer = nullptr) {
    return executeFrom(Code, 0, Stop, Observer);
  }
  uint32_t run(const program::ReplayProgram &Program, uint32_t Stop = NoStop,
               StoreObserver *Observer = nullptr) {
    return run(Program.code(), Stop, Observer);
  }
  /// Continues after run() returned Stopped.
  uint32_t resume(uint32_t Stop = NoStop, StoreObserver *Observer = nullptr) {
    return executeFrom(StoppedAt + 1, StoppedAt->A, Stop, Observer);
  }

private:
  /// Instruction is the one that Op belongs to.
  uint32_t executeFrom(const program::ReplayOp *Op, uint32_t Instruction,
                       uint32_t Stop, StoreObserver *Observer);
  /// What a run tells of memory, besides changing it.
  enum class Telling { Nothing, ReadMarks, Stores, Accesses };
  template <Telling How>
  uint32_t execute(const program::ReplayOp *Op, uint32_t Instruction,
                   uint32_t Stop, StoreObserver *Observer);

  alignas(64) uint8_t Frame[program::FrameSize + program::FrameSlack];
  ReplayMemory &Memory;
  const uint8_t *Opaque = nullptr, *OpaqueEnd = nullptr;
  const program::ReplayOp *StoppedAt = nullptr;
  SwapListener *OnSwap = nullptr;
};

} // namespace chronicle::machine

#endif
