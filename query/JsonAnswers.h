// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What the engine hands out, as JSON. Addresses and register values become
/// "0x..." strings, because many readers of JSON have no 64-bit numbers;
/// timestamps and counts are numbers.

#ifndef CHRONICLE_QUERY_JSONANSWERS_H
#define CHRONICLE_QUERY_JSONANSWERS_H

#include "query/Symbols.h"
#include "query/Trace.h"
#include "llvm/Support/JSON.h"

namespace chronicle {

std::string hexNumber(uint64_t N);
llvm::json::Value jsonBytes(llvm::ArrayRef<uint8_t> Bytes);
/// Text that the program or the system made, and that may be no UTF-8.
llvm::json::Value jsonText(llvm::StringRef Text);

llvm::json::Object jsonRegisters(const Registers &R);
llvm::json::Object jsonMapping(const Mapping &M);
llvm::json::Object jsonModule(const ModuleLoad &M);
llvm::json::Object jsonThread(const ThreadInfo &I);
llvm::json::Object jsonExecution(const Trace &T, const Execution &E);
llvm::json::Object jsonEvent(const TimedEvent &E);

/// The write, with what of it touches Range if it is large, and with the system
/// call that made it.
llvm::Expected<llvm::json::Object> jsonWrite(const Trace &T, const Write &W,
                                             AddressRange Range);

/// Null: no module is there.
llvm::json::Value jsonSymbol(const Trace &T, uint64_t Pc, Timestamp At);
llvm::json::Object jsonActivation(const Trace &T, const Activation &A,
                                  Timestamp At);
llvm::json::Object jsonFoundSymbol(const SymbolAt &S);

} // namespace chronicle

#endif
