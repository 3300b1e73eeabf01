// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Structures that arguments of system calls point to, as text. Each function
/// returns nothing if the memory cannot be read; the address is shown then.

#ifndef CHRONICLE_QUERY_SYSTEMCALLS_STRUCTURETEXT_H
#define CHRONICLE_QUERY_SYSTEMCALLS_STRUCTURETEXT_H

#include "query/systemcalls/CallView.h"

namespace chronicle::systemcalls {

using MaybeText = std::optional<std::string>;

// ---- files, times, signals, processes: StructureText.cpp ----

MaybeText statText(CallView &Call, uint64_t Address);
MaybeText statxText(CallView &Call, uint64_t Address);
/// Micro: a timeval, not a timespec.
MaybeText timeText(CallView &Call, uint64_t Address, Side S, bool Micro);
/// An interval timer: two times.
MaybeText intervalText(CallView &Call, uint64_t Address, Side S, bool Micro);
MaybeText timePairText(CallView &Call, uint64_t Address);
MaybeText signalSetText(CallView &Call, uint64_t Address, Side S);
MaybeText signalActionText(CallView &Call, uint64_t Address, Side S);
MaybeText alternateStackText(CallView &Call, uint64_t Address, Side S);
MaybeText limitText(CallView &Call, uint64_t Address, Side S);
MaybeText usageText(CallView &Call, uint64_t Address);
MaybeText waitStatusText(CallView &Call, uint64_t Address);
MaybeText namesText(CallView &Call, uint64_t Address);
MaybeText cpuSetText(CallView &Call, uint64_t Address, uint64_t Length, Side S);
MaybeText directoryText(CallView &Call, uint64_t Address);
MaybeText textVectorText(CallView &Call, uint64_t Address);
MaybeText environmentText(CallView &Call, uint64_t Address);

// ---- sockets and waiting: SocketText.cpp ----

MaybeText addressText(CallView &Call, uint64_t Address, uint64_t Length,
                      Side S);
/// Filled: how many bytes of what the vectors point to are valid.
MaybeText vectorText(CallView &Call, uint64_t Address, uint64_t Count, Side S,
                     uint64_t Filled);
MaybeText messageText(CallView &Call, uint64_t Address, Side S);
MaybeText optionText(CallView &Call, uint64_t Address, uint64_t Length, Side S);
/// Before the call the events asked for, after it those that came.
MaybeText pollText(CallView &Call, uint64_t Address, uint64_t Count, Side S);
/// Count: one more than the highest descriptor.
MaybeText fdSetText(CallView &Call, uint64_t Address, uint64_t Count, Side S);
MaybeText epollText(CallView &Call, uint64_t Address, Side S);

} // namespace chronicle::systemcalls

#endif
