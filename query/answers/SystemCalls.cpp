// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/answers/SystemCalls.h"
#include <array>
#include <cstring>

using namespace llvm;

namespace chronicle::answers {

StringRef systemCallName(uint32_t Number) {
  switch (Number) {
#define CH_SYSTEM_CALL(NUMBER, NAME, ...)                                      \
  case NUMBER:                                                                 \
    return #NAME;
#include "query/answers/SystemCalls.def"
#undef CH_SYSTEM_CALL
  }
  return "";
}

template <class... Kinds>
static constexpr std::array<ArgumentKind, sizeof...(Kinds)> listOf(Kinds... K) {
  return {K...};
}

ArrayRef<ArgumentKind> systemCallArguments(uint32_t Number) {
  using enum ArgumentKind;
  switch (Number) {
#define CH_SYSTEM_CALL(NUMBER, NAME, ...)                                      \
  case NUMBER: {                                                               \
    static constexpr auto Kinds = listOf(__VA_ARGS__);                         \
    return Kinds;                                                              \
  }
#include "query/answers/SystemCalls.def"
#undef CH_SYSTEM_CALL
  }
  static constexpr auto Unknown = listOf(Raw, Raw, Raw, Raw, Raw, Raw);
  return Unknown;
}

std::optional<uint32_t> systemCallNumber(StringRef Name) {
#define CH_SYSTEM_CALL(NUMBER, NAME, ...)                                      \
  if (Name == #NAME)                                                           \
    return NUMBER;
#include "query/answers/SystemCalls.def"
#undef CH_SYSTEM_CALL
  return std::nullopt;
}

StringRef systemCallError(int64_t Result) {
  if (Result >= 0 || Result < -4095)
    return "";
  const char *Name = strerrorname_np(static_cast<int>(-Result));
  return Name ? Name : "";
}

std::string signalName(uint32_t Number) {
  constexpr uint32_t FirstRealTime = 34; // the C library keeps 32 and 33
  if (Number >= FirstRealTime && Number <= 64)
    return "SIGRTMIN+" + std::to_string(Number - FirstRealTime);
  const char *Name = sigabbrev_np(static_cast<int>(Number));
  return Name ? std::string("SIG") + Name : std::to_string(Number);
}

} // namespace chronicle::answers
