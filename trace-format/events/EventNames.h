// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The names of event kinds, as the end piece, `chronicle info` and
/// `chronicle dump` use them, and the size of their fixed part.

#ifndef CHRONICLE_TRACE_FORMAT_EVENTS_EVENTNAMES_H
#define CHRONICLE_TRACE_FORMAT_EVENTS_EVENTNAMES_H

#include "trace-format/Stream.h"
#include "llvm/ADT/StringRef.h"

namespace chronicle::events {

constexpr unsigned EventKindCount = CH_EV_LOADED + 1;

/// "unknown" for kinds that do not exist.
llvm::StringRef eventKindName(uint32_t Kind);
/// Bytes every payload of the kind has at least.
unsigned eventFixedSize(uint32_t Kind);
/// "exit", "signal" ... of a ch_end_reason.
llvm::StringRef endReasonName(uint32_t Reason);
/// The name of an opaque reason below CH_REASON_FIRST_OP, or empty.
llvm::StringRef fixedReasonName(uint32_t Reason);

} // namespace chronicle::events

#endif
