// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Runs replay programs.

#ifndef CHRONICLE_QUERY_INTERPRETER_H
#define CHRONICLE_QUERY_INTERPRETER_H

#include "query/ReplayMemory.h"
#include "query/ReplayProgram.h"
#include "trace-format/GuestState.h"

namespace chronicle {

/// Learns of every store a program makes, before it happens. Instruction is the
/// index in the superblock with an exact program, and 0 with a fast one.
class StoreObserver {
public:
  virtual ~StoreObserver();
  virtual void store(uint32_t Instruction, uint64_t Address, uint32_t Size,
                     const uint8_t *Old, const uint8_t *New) = 0;
};

/// The registers and temps of one replay, and where it is in the opaque bytes.
/// One thread at a time. An operation costs one to two nanoseconds, and a guest
/// instruction one to three operations in a fast program.
class Interpreter {
public:
  /// Stop: before which instruction to stop; NoStop runs to an exit. Only exact
  /// programs can stop.
  static constexpr uint32_t NoStop = ~0u;
  /// What run() returns when it did not leave by an exit.
  static constexpr uint32_t Stopped = ~0u, OutOfOpaque = ~0u - 1;

  explicit Interpreter(ReplayMemory &Memory);

  uint8_t *state() { return Frame; }
  const uint8_t *state() const { return Frame; }
  uint64_t rip() const { return loadValue<uint64_t>(Frame + CH_OFFSET_RIP); }
  void setRip(uint64_t Rip) { storeValue(Frame + CH_OFFSET_RIP, Rip); }

  void setOpaque(llvm::ArrayRef<uint8_t> Bytes) {
    Opaque = Bytes.begin();
    OpaqueEnd = Bytes.end();
  }
  size_t opaqueLeft() const { return OpaqueEnd - Opaque; }

  /// Runs a superblock's program from its start. Returns the ordinal of the exit it left
  /// by, with RIP set, or Stopped, or OutOfOpaque. With an observer it is
  /// slower.
  uint32_t run(const ReplayOp *Code, uint32_t Stop = NoStop,
               StoreObserver *Observer = nullptr) {
    return executeFrom(Code, 0, Stop, Observer);
  }
  uint32_t run(const ReplayProgram &Program, uint32_t Stop = NoStop,
               StoreObserver *Observer = nullptr) {
    return run(Program.code(), Stop, Observer);
  }
  /// Goes on after run() returned Stopped.
  uint32_t resume(uint32_t Stop = NoStop, StoreObserver *Observer = nullptr) {
    return executeFrom(StoppedAt + 1, StoppedAt->A, Stop, Observer);
  }

private:
  /// Op belongs to the instruction.
  uint32_t executeFrom(const ReplayOp *Op, uint32_t Instruction, uint32_t Stop,
                       StoreObserver *Observer);
  template <bool Observed>
  uint32_t execute(const ReplayOp *Op, uint32_t Instruction, uint32_t Stop,
                   StoreObserver *Observer);

  alignas(64) uint8_t Frame[FrameSize + FrameSlack];
  ReplayMemory &Memory;
  const uint8_t *Opaque = nullptr, *OpaqueEnd = nullptr;
  const ReplayOp *StoppedAt = nullptr;
};

} // namespace chronicle

#endif
