// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/stepping/LineTable.h"

using namespace llvm;

namespace chronicle::stepping {

LineTable::~LineTable() = default;

size_t commonScopes(ArrayRef<CodePlace::Scope> A,
                    ArrayRef<CodePlace::Scope> B) {
  size_t N = 0;
  while (N < A.size() && N < B.size() && A[N].Start == B[N].Start)
    ++N;
  return N;
}

} // namespace chronicle::stepping
