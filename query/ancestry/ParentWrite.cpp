// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/ancestry/ParentWrite.h"
#include "query/ancestry/Ancestry.h"

using namespace llvm;

namespace chronicle::ancestry {

bool isFromFork(const query::Trace &T, const questions::WriteAnswer &Found) {
  return forkedFrom(T) && Found.Write.Time == 0 &&
         (Found.Write.By == answers::Writer::Mapping ||
          Found.Write.By == answers::Writer::Core);
}

/// Whether the two have the same bytes in the range at these times.
static Expected<bool> isSame(const query::Trace &A, Timestamp AtA,
                             const query::Trace &B, Timestamp AtB,
                             answers::AddressRange Range) {
  const uint64_t Length = Range.Last - Range.First + 1;
  Expected<answers::MemoryContents> InA = A.memory(Range.First, Length, AtA);
  if (!InA)
    return InA.takeError();
  Expected<answers::MemoryContents> InB = B.memory(Range.First, Length, AtB);
  if (!InB)
    return InB.takeError();
  return InA->Mapped == InB->Mapped && InA->Bytes == InB->Bytes;
}

Expected<std::optional<ParentWrite>>
parentWrite(const query::Trace &T, const questions::WriteAnswer &Found,
            const answers::Cancellation &Cancel) {
  ParentWrite Result;
  std::shared_ptr<const query::Trace> Ancestor; // whose write Result has
  for (Result.Answer = Found;
       isFromFork(Ancestor ? *Ancestor : T, Result.Answer);) {
    const query::Trace &Child = Ancestor ? *Ancestor : T;
    const processes::ForkOrigin From = *forkedFrom(Child);
    Expected<std::shared_ptr<const query::Trace>> Parent = openParent(Child);
    if (!Parent)
      return Parent.takeError();
    Expected<bool> Same = isSame(Child, 0, **Parent, From.Time, Found.Asked);
    if (!Same)
      return Same.takeError();
    if (!*Same)
      break;
    Expected<std::optional<questions::WriteAnswer>> Earlier =
        questions::lastWrite(**Parent, Found.Asked, From.Time, Cancel);
    if (!Earlier)
      return Earlier.takeError();
    if (!*Earlier)
      break;
    Result.IsParent = !Ancestor;
    Result.Number = From.Parent;
    Result.Process = From.Process;
    Result.Answer = std::move(**Earlier);
    Ancestor = std::move(*Parent);
  }
  if (!Ancestor)
    return std::nullopt;
  Result.Trace = std::move(Ancestor);
  return Result;
}

} // namespace chronicle::ancestry
