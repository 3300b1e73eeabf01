// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Answers about registers, where values came from, and the heap, as JSON.

#ifndef CHRONICLE_QUERY_JSON_JSONVALUES_H
#define CHRONICLE_QUERY_JSON_JSONVALUES_H

#include "query/heap/HeapQuestions.h"
#include "query/json/JsonAnswers.h"
#include "query/json/JsonCommands.h"
#include "query/variables/OriginQuestions.h"
#include "query/variables/RegisterQuestions.h"

namespace chronicle::jsonapi {

/// "instruction", "system-call" … (JsonAnswers.cpp).
llvm::StringRef writerName(answers::Writer By);

llvm::json::Object toJSON(const variables::RegisterWriteAnswer &W);
llvm::json::Object toJSON(const variables::OriginStepAnswer &S);
llvm::json::Object toJSON(const variables::OriginAnswer &A);
llvm::json::Object toJSON(const heap::HeapAnswer &A);
llvm::json::Object toJSON(const heap::HeapGroup &G);

/// last-write, next-write and writes, if the request names a register.
llvm::Expected<llvm::json::Value> lastRegisterWrite(JsonQuery &Q);
llvm::Expected<llvm::json::Value> nextRegisterWrite(JsonQuery &Q);
llvm::Expected<llvm::json::Value>
registerWrites(JsonQuery &Q, questions::SearchOptions Options);

/// The tables of JsonValueCommands.cpp and JsonHeapCommands.cpp.
llvm::ArrayRef<JsonCommand> jsonValueCommands();
llvm::ArrayRef<JsonCommand> jsonHeapCommands();

} // namespace chronicle::jsonapi

#endif
