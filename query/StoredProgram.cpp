// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs in a trace: made for it, and checked when they come from it.

#include "query/ProgramBuilder.h"
#include "trace-format/Bytecode.h"
#include "trace-format/GuestState.h"
#include "llvm/Support/xxhash.h"
#include <memory>

using namespace llvm;

namespace chronicle {

/// Raise it when what an operation does changes, or what the builder makes of a
/// definition was wrong.
static constexpr unsigned Meaning = 1;

uint64_t ReplayProgram::version() {
  static const uint64_t Version = [] {
    // In the order of their numbers.
    static constexpr char Names[] =
#define CH_FUSED_COMPARE(Name) #Name " "
#include "query/FusedCompares.def"
#undef CH_FUSED_COMPARE
#define CH_REPLAY_OP(Name, Result, Arity, A, B, C, D)                          \
  #Name " " #Result #Arity #A #B #C #D " "
#include "trace-format/ReplayOps.def"
#undef CH_REPLAY_OP
#define CH_HELPER(Name) #Name " "
#include "trace-format/ReplayHelpers.def"
#undef CH_HELPER
        ;
    const uint64_t All[] = {xxh3_64bits(StringRef(Names)),
                            static_cast<uint64_t>(Code::First),
                            CH_GUEST_STATE_SIZE,
                            FrameZero,
                            FrameTemps,
                            Meaning};
    return xxh3_64bits(
        ArrayRef(reinterpret_cast<const uint8_t *>(All), sizeof(All)));
  }();
  return Version;
}

/// Any 16 bits are a place in the frame, which goes on for what is read or
/// written there at most. So only counts and sizes need a look.
static bool isSound(const ReplayOp &Op, unsigned Exits, uint16_t CodeEnd) {
  switch (static_cast<Code>(Op.Code)) {
  case Code::Instruction:
    return false; // exact programs are not stored
  case Code::GetIndexed:
  case Code::PutIndexed:
    return Op.C && Op.D <= FrameSlack &&
           uint32_t(Op.B + Op.C * Op.D) <= FrameSize;
  case Code::LoadIndexed1:
  case Code::LoadIndexed2:
  case Code::LoadIndexed4:
  case Code::LoadIndexed8:
  case Code::LoadIndexed16:
  case Code::StoreIndexed1:
  case Code::StoreIndexed2:
  case Code::StoreIndexed4:
  case Code::StoreIndexed8:
  case Code::StoreIndexed16:
    return Op.C < 64;
  case Code::Clear16:
    return uint32_t(Op.Dst + 32 * Op.A) <= FrameSize;
  case Code::StoreGuarded:
    return Op.C <= FrameSlack;
  case Code::Cas:
  case Code::CasDouble:
    return Op.D <= 8;
  case Code::Call:
    return (Op.F & 0xff) < helperCount() && Op.F >> 8 <= 8;
  case Code::Opaque:
    return uint32_t(Op.Dst + Op.A) <= FrameSize;
  case Code::Exit:
  case Code::ExitComputed:
  case Code::Next:
    return Op.B >= 1 && Op.B <= Exits;
  default:
    return Op.Code < CodeEnd;
  }
}

static bool areSound(ArrayRef<ReplayOp> Ops, unsigned Exits) {
  const uint16_t CodeEnd = operationCode(operationCount());
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

const ReplayProgram *ReplayProgram::at(ArrayRef<uint8_t> Bytes,
                                       uint64_t Address) {
  if (Bytes.size() < sizeof(ReplayProgram))
    return nullptr;
  const auto *P = reinterpret_cast<const ReplayProgram *>(Bytes.data());
  if (P->Size > Bytes.size() || P->Start != Address || !P->ExitCount)
    return nullptr;
  const uint64_t Used =
      sizeof(ReplayProgram) + uint64_t(P->OpCount) * sizeof(ReplayOp) +
      uint64_t(P->ExitCount) * sizeof(uint16_t) + P->InstructionCount;
  if (Used > P->Size || P->Checksum != P->checksum())
    return nullptr;
  return areSound(P->ops(), P->ExitCount) ? P : nullptr;
}

ProgramMaker programMaker() {
  auto Builder = std::make_shared<ProgramBuilder>();
  return {ReplayProgram::version(),
          [Builder](ArrayRef<uint8_t> Definition)
              -> std::optional<SmallVector<uint8_t, 0>> {
            Expected<std::unique_ptr<ReplayProgram>> P =
                Builder->build(Definition, ProgramForm::Fast);
            if (!P) {
              // Whoever replays it will be told why.
              consumeError(P.takeError());
              return std::nullopt;
            }
            ArrayRef<uint8_t> Bytes = (*P)->bytes();
            return SmallVector<uint8_t, 0>(Bytes.begin(), Bytes.end());
          }};
}

} // namespace chronicle
