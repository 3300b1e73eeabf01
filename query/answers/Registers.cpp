// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/answers/Registers.h"
#include "query/replay/operations/Helpers.h"
#include "query/replay/operations/ValueTypes.h"
#include "trace-format/GuestState.h"

using namespace llvm;

namespace chronicle::answers {

uint64_t Registers::word(unsigned Offset) const {
  return operations::loadValue<uint64_t>(State.data() + Offset);
}
uint64_t Registers::rip() const { return word(CH_OFFSET_RIP); }
uint64_t Registers::rsp() const { return word(CH_OFFSET_RSP); }

uint64_t Registers::flags() const {
  constexpr uint64_t AlwaysSet = 1 << 1, Interrupts = 1 << 9,
                     Direction = 1 << 10, Alignment = 1 << 18,
                     Identification = 1 << 21;
  uint64_t Flags = operations::helpers::amd64g_calculate_rflags_all(
      word(CH_OFFSET_CC_OP), word(CH_OFFSET_CC_DEP1), word(CH_OFFSET_CC_DEP2),
      word(CH_OFFSET_CC_NDEP), 0);
  if (word(CH_OFFSET_DFLAG) != 1)
    Flags |= Direction;
  if (word(CH_OFFSET_ACFLAG) & 1)
    Flags |= Alignment;
  if (word(CH_OFFSET_IDFLAG) & 1)
    Flags |= Identification;
  return Flags | AlwaysSet | Interrupts;
}

ArrayRef<uint8_t> Registers::ymm(unsigned N) const {
  return ArrayRef<uint8_t>(State).slice(CH_OFFSET_YMM0 + 32 * N, 32);
}

} // namespace chronicle::answers
