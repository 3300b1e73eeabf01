// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/diversion/Scratch.h"
#include <algorithm>

using namespace llvm;

namespace chronicle::diversion {

/// Valgrind places nothing there by itself.
static constexpr uint64_t First = 0x7e0000000000;
/// More than a debugger needs, and less than would hurt.
static constexpr uint64_t Most = 256 << 20;
static constexpr uint64_t Page = 4096;

std::optional<uint64_t> Scratch::allocate(uint64_t Length, int Protection) {
  if (!Length || Length > Most)
    return std::nullopt;
  Length = (Length + Page - 1) / Page * Page;
  uint64_t Place = First, Used = 0;
  for (const auto &[Start, Area] : Areas) {
    // Leaves a page free, so that an overrun faults.
    if (Start >= Place + Length + Page)
      break;
    Place = Start + Area.Bytes.size() + Page;
  }
  for (const auto &[Start, Area] : Areas)
    Used += Area.Bytes.size();
  if (Used + Length > Most)
    return std::nullopt;
  Areas[Place] = {Protection, std::vector<uint8_t>(Length)};
  return Place;
}

MutableArrayRef<uint8_t> Scratch::find(uint64_t Address) {
  auto It = Areas.upper_bound(Address);
  if (It == Areas.begin())
    return {};
  --It;
  MutableArrayRef<uint8_t> Bytes = It->second.Bytes;
  const uint64_t Offset = Address - It->first;
  return Offset < Bytes.size() ? Bytes.drop_front(Offset)
                               : MutableArrayRef<uint8_t>();
}

} // namespace chronicle::diversion
