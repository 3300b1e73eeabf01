// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Prints events for `chronicle dump`.

#ifndef CHRONICLE_TRACE_FORMAT_EVENTS_EVENTPRINTER_H
#define CHRONICLE_TRACE_FORMAT_EVENTS_EVENTPRINTER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>

namespace chronicle::events {

/// Prints an event's kind and contents in one line, without a newline. Long
/// contents are cut, and their length is printed instead of the rest.
void printEvent(llvm::raw_ostream &Out, uint32_t Kind,
                llvm::ArrayRef<uint8_t> Payload);

} // namespace chronicle::events

#endif
