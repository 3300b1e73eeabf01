// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What arguments of system calls point to, as text.

#ifndef CHRONICLE_QUERY_SYSTEMCALLS_POINTEDTEXT_H
#define CHRONICLE_QUERY_SYSTEMCALLS_POINTEDTEXT_H

#include "query/answers/SystemCalls.h"
#include "query/systemcalls/StructureText.h"

namespace chronicle::systemcalls {

/// What argument I points to, if its kind is a pointer. Nothing: show the
/// address.
MaybeText pointedText(CallView &Call, answers::ArgumentKind Kind, unsigned I);

/// A number of 32 bits in memory: "[5]".
MaybeText numberText(CallView &Call, uint64_t Address, Side S);

} // namespace chronicle::systemcalls

#endif
