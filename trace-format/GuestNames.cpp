// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/GuestNames.h"
#include "trace-format/GuestState.h"
#include "llvm/ADT/StringRef.h"

using namespace llvm;

namespace chronicle {

std::string guestName(unsigned Offset) {
  struct Field {
    const char *Name;
    unsigned Offset, Size;
  };
  static constexpr Field Fields[] = {
#define CH_GUEST(NAME, OFFSET, SIZE) {#NAME, OFFSET, SIZE},
      CH_GUEST_FIELDS(CH_GUEST)
#undef CH_GUEST
  };
  for (const Field &F : Fields) {
    if (Offset < F.Offset || Offset >= F.Offset + F.Size)
      continue;
    unsigned Into = Offset - F.Offset;
    std::string Name = StringRef(F.Name).lower();
    if (F.Offset == CH_OFFSET_YMM0) {
      Name = "ymm" + std::to_string(Into / 32);
      Into %= 32;
    } else if (F.Offset == CH_OFFSET_FPREG) {
      Name += std::to_string(Into / 8);
      Into %= 8;
    }
    return Into ? Name + "+" + std::to_string(Into) : Name;
  }
  return "state+" + std::to_string(Offset);
}

} // namespace chronicle
