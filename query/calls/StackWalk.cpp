// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/calls/StackWalk.h"

using namespace llvm;

namespace chronicle::calls {

Error StackWalk::outward() {
  const BlockCalls::Node From = *node();
  At = From.Parent;
  InFile = false;
  if (At != BlockCalls::None || !From.Outer)
    return Error::success();
  // A signal stack leads to the stack that the signal interrupted, which the
  // block knows.
  At = Calls->find(From.Outer);
  if (At != BlockCalls::None)
    return Error::success();
  Expected<pieces::ActivationRecord> A = States.pieces().activation(From.Outer);
  if (!A)
    return A.takeError();
  Stored = BlockCalls::Node();
  Stored.Call = A->Call;
  Stored.Thread = From.Thread;
  Stored.Outer = A->Parent;
  Stored.Extra = From.Extra;
  Stored.Hidden = A->isFirstOfStack() && A->Parent;
  InFile = true;
  return Error::success();
}

} // namespace chronicle::calls
