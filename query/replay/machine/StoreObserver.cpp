// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/replay/machine/StoreObserver.h"

namespace chronicle::machine {

StoreObserver::~StoreObserver() = default;
void StoreObserver::load(uint32_t, uint64_t, uint32_t, const uint8_t *) {}

} // namespace chronicle::machine
