// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/ancestry/Ancestry.h"

using namespace llvm;

namespace chronicle::ancestry {

std::optional<processes::ForkOrigin> forkedFrom(const query::Trace &T) {
  return processes::forkOrigin(T.reader().run());
}

Expected<std::shared_ptr<const query::Trace>>
openParent(const query::Trace &T) {
  std::optional<processes::ForkOrigin> Origin = forkedFrom(T);
  if (!Origin)
    return createStringError("the process was not forked by a recorded one");
  Expected<std::string> Path =
      processes::traceBeside(T.reader().path(), Origin->Parent);
  if (!Path)
    return Path.takeError();
  Expected<std::unique_ptr<query::Trace>> Parent = query::Trace::open(*Path);
  if (!Parent)
    return Parent.takeError();
  return std::shared_ptr<const query::Trace>(std::move(*Parent));
}

bool isInherited(const query::Trace &T, const answers::Activation &A) {
  if (A.Entry != 0 || !(A.Signal || A.CallSite) || !forkedFrom(T))
    return false;
  if (!A.Signal)
    return true;
  // A handler may also be entered before the first instruction.
  Expected<answers::Registers> First = T.registers(A.Thread, 0);
  if (First)
    return A.StackPointer >= First->rsp();
  consumeError(First.takeError());
  return true;
}

} // namespace chronicle::ancestry
