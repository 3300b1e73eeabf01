// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/replay/program/ProgramSoundness.h"
#include "trace-format/bytecode/BytecodeReader.h"

using namespace llvm;

namespace chronicle::program {

/// Any 16 bits are a place in the frame, and the frame goes on behind the last
/// place for as much as is used there at most. So only counts and sizes need a
/// check.
static bool isSound(const ReplayOp &Op, unsigned Exits, uint16_t CodeEnd) {
  switch (static_cast<Code>(Op.Code)) {
#define CH_REPLAY_CODE(Name, Sound)                                            \
  case Code::Name:                                                             \
    return Sound;
#include "query/replay/program/ReplayCodes.def"
#undef CH_REPLAY_CODE
  default:
    return Op.Code < CodeEnd;
  }
}

bool isSoundProgram(ArrayRef<ReplayOp> Ops, unsigned Exits) {
  const uint16_t CodeEnd = operationCode(bytecode::operationCount());
  for (size_t I = 0; I < Ops.size(); ++I) {
    const ReplayOp &Op = Ops[I];
    const auto C = static_cast<Code>(Op.Code);
    if (!isSound(Op, Exits, CodeEnd))
      return false;
    if (C == Code::Next)
      return I + 1 == Ops.size();
    if (takesNext(C)) {
      if (++I == Ops.size() ||
          Ops[I].Code !=
              static_cast<uint16_t>(C == Code::CasDouble ? C : Code::Exit) ||
          !isSound(Ops[I], Exits, CodeEnd))
        return false;
    }
  }
  return false;
}

} // namespace chronicle::program
