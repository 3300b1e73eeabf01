// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Answers about registers, where values came from, the heap, and values of
/// expressions, as JSON.

#ifndef CHRONICLE_QUERY_JSON_JSONVALUES_H
#define CHRONICLE_QUERY_JSON_JSONVALUES_H

#include "query/control/AbsenceQuestions.h"
#include "query/control/ControlQuestions.h"
#include "query/expressions/CallTree.h"
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
llvm::json::Object toJSON(const variables::SliceAnswer &A);
llvm::json::Object toJSON(const control::ControlStep &S);
llvm::json::Object toJSON(const control::ControlAnswer &A);
llvm::json::Object toJSON(const control::AbsenceAnswer &A);
/// {"address", "size"}, or {"register", "thread", "size"}.
llvm::json::Object toJSON(const answers::ValuePlace &P);
llvm::json::Object toJSON(const heap::HeapAnswer &A);
llvm::json::Object toJSON(const heap::HeapGroup &G);

/// last-write, next-write and writes, if the request names a register.
llvm::Expected<llvm::json::Value> lastRegisterWrite(JsonQuery &Q);
llvm::Expected<llvm::json::Value> nextRegisterWrite(JsonQuery &Q);
llvm::Expected<llvm::json::Value>
registerWrites(JsonQuery &Q, questions::SearchOptions Options);

/// The tables of JsonValueCommands.cpp, JsonControlCommands.cpp and
/// JsonHeapCommands.cpp.
llvm::ArrayRef<JsonCommand> jsonValueCommands();
llvm::ArrayRef<JsonCommand> jsonControlCommands();
llvm::ArrayRef<JsonCommand> jsonHeapCommands();

// ---- values of expressions, JsonLogCommands.cpp ----

/// {"value", "count", "first", "last"}.
llvm::json::Object toJSON(const expressions::CallGroup &G);
/// A value is {"expression", "type", "value"}, or {"expression", "error"}.
llvm::json::Array jsonValues(llvm::ArrayRef<expressions::LoggedValue> Values,
                             llvm::ArrayRef<std::string> Expressions);
/// Its values are as jsonValues() makes them.
llvm::json::Object toJSON(const expressions::LogRow &Row,
                          llvm::ArrayRef<std::string> Expressions);
/// "at", "thread" and "frame": the activation at that place of the call stack.
/// Comes after all other arguments (JsonCallCommands.cpp).
llvm::Expected<answers::Activation> activationArgument(JsonQuery &Q);
/// A command of JsonLogCommands.cpp.
llvm::Expected<llvm::json::Value> calls(JsonQuery &Q);
llvm::json::Object toJSON(const expressions::TreeCall &C);
/// Null: nothing was left out.
llvm::json::Value toJSON(const expressions::LeftOut &L);

} // namespace chronicle::jsonapi

#endif
