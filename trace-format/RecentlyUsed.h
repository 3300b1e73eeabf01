// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A small cache of decoded values.

#ifndef CHRONICLE_TRACE_FORMAT_RECENTLYUSED_H
#define CHRONICLE_TRACE_FORMAT_RECENTLYUSED_H

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace chronicle {

/// Keeps values by a number in 2 to the power of Bits slots, the most recent
/// value of each slot. May be used from several threads at once; a value that
/// is in use outlives its slot.
template <class T, unsigned Bits> class RecentlyUsed {
public:
  /// The value, or null.
  std::shared_ptr<const T> find(uint64_t Key) {
    std::lock_guard<std::mutex> Lock(Mutex);
    auto &[Known, Value] = slot(Key);
    return Known == Key ? Value : nullptr;
  }
  std::shared_ptr<const T> add(uint64_t Key, T Value) {
    auto Shared = std::make_shared<const T>(std::move(Value));
    std::lock_guard<std::mutex> Lock(Mutex);
    slot(Key) = {Key, Shared};
    return Shared;
  }

private:
  using Slot = std::pair<uint64_t, std::shared_ptr<const T>>;
  Slot &slot(uint64_t Key) {
    return Slots[Key * 0x9e3779b97f4a7c15ull >> (64 - Bits)];
  }
  std::mutex Mutex;
  std::array<Slot, 1 << Bits> Slots;
};

} // namespace chronicle

#endif
