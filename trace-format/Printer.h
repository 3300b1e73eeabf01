// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Replay programs and events as text, for `chronicle dump` and for messages.

#ifndef CHRONICLE_TRACE_FORMAT_PRINTER_H
#define CHRONICLE_TRACE_FORMAT_PRINTER_H

#include "trace-format/BytecodeReader.h"
#include "trace-format/TraceData.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace chronicle {

/// "rax", "ymm3+8", "state+900": the part of the guest state at an offset.
std::string guestName(unsigned Offset);

/// One statement, without a newline.
void printStatement(llvm::raw_ostream &Out, const Statement &S,
                    llvm::function_ref<std::string(uint32_t)> ReasonName);

/// The whole program, a statement a line, each instruction with its address. A
/// definition that makes no sense ends in a line that says so.
void printDefinition(llvm::raw_ostream &Out, llvm::ArrayRef<uint8_t> Definition,
                     llvm::function_ref<std::string(uint32_t)> ReasonName);

/// An event's kind and contents in one line, without a newline. Long contents
/// are cut, and say how long they are.
void printEvent(llvm::raw_ostream &Out, uint32_t Kind,
                llvm::ArrayRef<uint8_t> Payload);

} // namespace chronicle

#endif
