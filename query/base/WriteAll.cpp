// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/base/WriteAll.h"
#include <cerrno>
#include <unistd.h>

using namespace llvm;

namespace chronicle::base {

bool writeAll(int Descriptor, StringRef Text) {
  while (!Text.empty()) {
    ssize_t Written = ::write(Descriptor, Text.data(), Text.size());
    if (Written < 0 && errno == EINTR)
      continue;
    if (Written <= 0)
      return false;
    Text = Text.drop_front(Written);
  }
  return true;
}

} // namespace chronicle::base
