// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/replay/Mismatch.h"
#include "trace-format/GuestState.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cstring>

using namespace llvm;

namespace chronicle::replay {

static bool isCompared(StringRef Field) {
  return Field != "EMNOTE" && Field != "CMSTART" && Field != "CMLEN" &&
         Field != "NRADDR";
}

std::string describeDifference(const uint8_t *Found, const uint8_t *Expected) {
  struct Field {
    const char *Name;
    unsigned Offset, Size;
  };
  static const Field Fields[] = {
#define CH_GUEST(NAME, OFFSET, SIZE) {#NAME, OFFSET, SIZE},
      CH_GUEST_FIELDS(CH_GUEST)
#undef CH_GUEST
  };
  for (const Field &F : Fields) {
    if (!isCompared(F.Name) ||
        std::memcmp(Found + F.Offset, Expected + F.Offset, F.Size) == 0)
      continue;
    unsigned Word = 0, Size = std::min(F.Size, 8u);
    while (std::memcmp(Found + F.Offset + Word, Expected + F.Offset + Word,
                       Size) == 0)
      Word += Size;
    uint64_t A = 0, B = 0;
    std::memcpy(&A, Found + F.Offset + Word, Size);
    std::memcpy(&B, Expected + F.Offset + Word, Size);
    std::string Name = F.Name;
    if (StringRef(F.Name) == "YMM0")
      Name = formatv("YMM{0} bits {1} to {2}", Word / 32, Word % 32 * 8,
                     Word % 32 * 8 + 63);
    else if (F.Size > 8)
      Name = formatv("{0} byte {1}", F.Name, Word);
    return formatv("{0} is {1:x}, recorded {2:x}", Name, A, B);
  }
  return "";
}

} // namespace chronicle::replay
