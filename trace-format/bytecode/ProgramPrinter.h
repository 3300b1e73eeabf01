// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Prints replay programs for `chronicle dump`.

#ifndef CHRONICLE_TRACE_FORMAT_BYTECODE_PROGRAMPRINTER_H
#define CHRONICLE_TRACE_FORMAT_BYTECODE_PROGRAMPRINTER_H

#include "trace-format/TraceData.h"
#include "trace-format/bytecode/BytecodeReader.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace chronicle::bytecode {

/// Prints one statement, without a newline.
void printStatement(llvm::raw_ostream &Out, const Statement &S,
                    llvm::function_ref<std::string(uint32_t)> ReasonName);

/// Prints the whole program, one statement per line, each instruction with its
/// address. After the last valid statement of a damaged definition comes a line
/// that says what is wrong.
void printDefinition(llvm::raw_ostream &Out, llvm::ArrayRef<uint8_t> Definition,
                     llvm::function_ref<std::string(uint32_t)> ReasonName);

} // namespace chronicle::bytecode

#endif
