// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/replay/machine/StoreObserver.h"

namespace chronicle::machine {

StoreObserver::~StoreObserver() = default;

} // namespace chronicle::machine
