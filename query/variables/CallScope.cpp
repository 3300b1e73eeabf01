// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/variables/CallScope.h"

using namespace llvm;

namespace chronicle::variables {

static CallScope scopeOf(ArrayRef<answers::Activation> Stack, size_t Index,
                         Timestamp At) {
  return {Stack[Index], Index ? Stack[Index - 1].Entry : At};
}

Expected<std::optional<CallScope>>
callScope(const query::Trace &T, uint32_t Thread, Timestamp At, size_t Index) {
  Expected<std::vector<answers::Activation>> Stack =
      T.callStack(Thread, At, Index + (Index != SIZE_MAX));
  if (!Stack)
    return Stack.takeError();
  if (Index >= Stack->size())
    return std::nullopt;
  return scopeOf(*Stack, Index, At);
}

Expected<std::optional<CallScope>> callScopeByCfa(const query::Trace &T,
                                                  uint32_t Thread, Timestamp At,
                                                  uint64_t Cfa) {
  Expected<std::vector<answers::Activation>> Stack = T.callStack(Thread, At);
  if (!Stack)
    return Stack.takeError();
  constexpr uint64_t ReturnAddress = 8;
  for (size_t I = 0; I < Stack->size(); ++I)
    if ((*Stack)[I].StackPointer + ReturnAddress == Cfa)
      return scopeOf(*Stack, I, At);
  return std::nullopt;
}

Expected<answers::TimeRange> timeOf(const query::Trace &T,
                                    const answers::Activation &Call) {
  Expected<std::optional<Timestamp>> Return = T.returnOf(Call);
  if (!Return)
    return Return.takeError();
  return answers::TimeRange{Call.Entry, Return->value_or(T.instructions())};
}

} // namespace chronicle::variables
