// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/replay/program/MoveFusion.h"
#include "trace-format/GuestState.h"
#include <cstddef>

namespace chronicle::program {

void fuseMoves(std::vector<ReplayOp> &Ops) {
  auto Is = [](const ReplayOp &Op, Code C) {
    return Op.Code == static_cast<uint16_t>(C);
  };
  auto IsMove = [&](const ReplayOp &Op) {
    return Is(Op, Code::Copy8) || Is(Op, Code::Const8);
  };
  auto Make = [](Code C, uint16_t Dst, uint16_t A, uint16_t B, uint64_t Imm) {
    ReplayOp Op;
    Op.Code = static_cast<uint16_t>(C);
    Op.Dst = Dst;
    Op.A = A;
    Op.B = B;
    Op.Imm = Imm;
    return Op;
  };
  // Overlapping operands would make the order matter.
  auto Reads = [&](const ReplayOp &Op, uint16_t Place) {
    return Is(Op, Code::Copy8) && Op.A < Place + 8 && Place < Op.A + 8;
  };
  size_t To = 0;
  for (size_t I = 0; I < Ops.size();) {
    const ReplayOp X = Ops[I];
    // The second half of a double compare-and-swap is not an operation.
    if (Is(X, Code::CasDouble)) {
      Ops[To++] = X;
      Ops[To++] = Ops[I + 1];
      I += 2;
      continue;
    }
    if (Is(X, Code::Const16) && X.Imm == 0) {
      uint16_t Count = 0;
      for (; I < Ops.size() && Is(Ops[I], Code::Const16) && Ops[I].Imm == 0 &&
             Ops[I].Dst == X.Dst + 32 * Count;
           ++I)
        ++Count;
      Ops[To++] = Make(Code::Clear16, X.Dst, Count, 0, 0);
      continue;
    }
    if (!IsMove(X) || I + 1 == Ops.size() || !IsMove(Ops[I + 1]) ||
        Reads(Ops[I + 1], X.Dst) ||
        (X.Dst < Ops[I + 1].Dst + 8 && Ops[I + 1].Dst < X.Dst + 8)) {
      Ops[To++] = X;
      ++I;
      continue;
    }
    const ReplayOp Y = Ops[I + 1];
    const bool HasThird = I + 2 < Ops.size() && IsMove(Ops[I + 2]);
    if (HasThird && Is(X, Code::Const8) && X.Dst == CH_OFFSET_CC_OP &&
        X.Imm <= UINT16_MAX && Y.Dst == CH_OFFSET_CC_DEP1 &&
        Ops[I + 2].Dst == CH_OFFSET_CC_DEP2 && Is(Y, Code::Copy8) &&
        !Reads(Ops[I + 2], X.Dst) && !Reads(Ops[I + 2], Y.Dst)) {
      const ReplayOp Z = Ops[I + 2];
      const bool Copies = Is(Z, Code::Copy8);
      Ops[To++] = Make(Code::SetFlags, static_cast<uint16_t>(X.Imm), Y.A,
                       Copies ? Z.A : uint16_t(FrameZero), Copies ? 0 : Z.Imm);
      I += 3;
      continue;
    }
    if (Is(X, Code::Copy8) && Is(Y, Code::Copy8)) {
      ReplayOp Op = Make(Code::CopyTwice, X.Dst, X.A, Y.Dst, 0);
      Op.C = Y.A;
      Ops[To++] = Op;
    } else if (Is(X, Code::Copy8)) {
      Ops[To++] = Make(Code::CopyConst, X.Dst, X.A, Y.Dst, Y.Imm);
    } else if (Is(Y, Code::Copy8)) {
      Ops[To++] = Make(Code::CopyConst, Y.Dst, Y.A, X.Dst, X.Imm);
    } else if (X.Imm <= UINT32_MAX && Y.Imm <= UINT32_MAX) {
      Ops[To++] = Make(Code::ConstTwice, X.Dst, Y.Dst, 0, X.Imm | Y.Imm << 32);
    } else {
      Ops[To++] = X;
      ++I;
      continue;
    }
    I += 2;
  }
  Ops.resize(To);
}

} // namespace chronicle::program
