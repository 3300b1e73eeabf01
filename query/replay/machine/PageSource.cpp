// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/replay/machine/PageSource.h"

namespace chronicle::machine {

PageSource::~PageSource() = default;

} // namespace chronicle::machine
