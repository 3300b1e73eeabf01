// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The operations that replay programs consist of: 16 bytes each, on a frame
/// that holds the guest state and, after it, the temps.
///
/// Operands are byte offsets into the frame, read at the width of their type.
/// Results of up to 8 bytes are written as 8, extended by zeros. So narrowing
/// and zero-extending need no operation: they are other names for the same
/// bytes. A GET can be the register itself as long as nothing overwrites it,
/// and an operation can write its result where a later PUT wants it.

#ifndef CHRONICLE_QUERY_REPLAY_PROGRAM_REPLAYOP_H
#define CHRONICLE_QUERY_REPLAY_PROGRAM_REPLAYOP_H

#include "trace-format/Stream.h"
#include <cstdint>

namespace chronicle::program {

/// The operations of ReplayOps.def by name.
enum class Operation : uint16_t {
#define CH_REPLAY_OP(Name, Result, Arity, A, B, C, D) Op_##Name,
#include "trace-format/ReplayOps.def"
#undef CH_REPLAY_OP
};

/// What the interpreter can do: the codes of ReplayCodes.def, then First, from
/// which on the operations of ReplayOps.def follow, two codes each.
enum class Code : uint16_t {
#define CH_REPLAY_CODE(Name, Sound) Name,
#include "query/replay/program/ReplayCodes.def"
#undef CH_REPLAY_CODE
  First,
};

/// Whether it compares, then leaves by the Exit that is the next operation.
constexpr bool isFusedExit(Code C) {
  return C > Code::SetFlags && C < Code::First;
}
/// Whether the next operation is part of this one.
constexpr bool takesNext(Code C) {
  return C == Code::CasDouble || isFusedExit(C);
}

/// The code of operation N of ReplayOps.def.
constexpr uint16_t operationCode(unsigned N) {
  return static_cast<uint16_t>(static_cast<uint16_t>(Code::First) + 2 * N);
}
/// The code of its form whose second operand is Imm; only binary operations
/// have one.
constexpr uint16_t immediateCode(unsigned N) { return operationCode(N) + 1; }

/// One operation of a program. The codes say which fields mean what.
struct ReplayOp {
  uint16_t Code;
  uint16_t Dst, A, B;
  union {
    uint64_t Imm;
    struct {
      uint16_t C, D;
      union {
        int32_t Bias;
        struct {
          uint16_t E, F;
        };
      };
    };
  };
};
static_assert(sizeof(ReplayOp) == 16);

/// The frame holds the guest state, a stretch that is always zero, and the
/// temps. Any 16 bits are a place in it, from which FrameSlack bytes may be
/// used.
constexpr unsigned FrameZero = 960, FrameTemps = 1024, FrameSize = 65536,
                   FrameSlack = 32;
static_assert(FrameZero >= CH_GUEST_STATE_SIZE);

} // namespace chronicle::program

#endif
