// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The engine's answers as JSON, for `chronicle query` and the --json option of
/// LLDB's commands. Addresses and register values become "0x..." strings,
/// because many readers of JSON have no 64-bit numbers; timestamps and counts
/// are numbers.

#ifndef CHRONICLE_QUERY_JSON_JSONANSWERS_H
#define CHRONICLE_QUERY_JSON_JSONANSWERS_H

#include "query/exceptions/ExceptionQuestions.h"
#include "query/questions/CallQuestions.h"
#include "query/questions/ExecutionQuestions.h"
#include "query/questions/OutputQuestions.h"
#include "query/questions/WriteQuestions.h"
#include "llvm/Support/JSON.h"

namespace chronicle::jsonapi {

std::string hexNumber(uint64_t N);
llvm::json::Value jsonBytes(llvm::ArrayRef<uint8_t> Bytes);
/// Text from the program or the system, which may not be UTF-8.
llvm::json::Value jsonText(llvm::StringRef Text);
/// "rwx", with a dash for what is not allowed.
std::string protectionText(uint32_t Protection);

/// Null: nothing.
template <class Number>
llvm::json::Value jsonOptional(std::optional<Number> N) {
  return N ? llvm::json::Value(*N) : llvm::json::Value(nullptr);
}

// ---- the run and its state, JsonState.cpp ----

/// What was recorded: the answer to "info".
llvm::json::Object toJSON(const query::Trace &T);
llvm::json::Object toJSON(const answers::Registers &R);
llvm::json::Object toJSON(const answers::Mapping &M);
llvm::json::Object toJSON(const state::ModuleLoad &M);
llvm::json::Object toJSON(const answers::ThreadInfo &I);

// ---- events, JsonEvents.cpp ----

llvm::json::Object toJSON(const answers::TimedEvent &E);
llvm::json::Object toJSON(const questions::OutputMatch &M);
/// Number, name, arguments, result and text; without times and thread.
llvm::json::Object toJSON(const questions::SystemCall &C);
/// The same with times, thread, place and caller.
llvm::json::Object toJSON(const questions::SystemCallAnswer &C);

// ---- code and what it did, JsonAnswers.cpp ----

/// The function and the source line; null: no module is there.
llvm::json::Value toJSON(const questions::Place &P);
/// {"pc", "symbol"}; null: nothing.
llvm::json::Value toJSON(const std::optional<questions::Place> &P);
llvm::json::Object toJSON(const questions::ExecutionAnswer &X);
llvm::json::Object toJSON(const questions::WriteAnswer &W);
/// JsonReadCommands.cpp.
llvm::json::Object toJSON(const questions::ReadAnswer &R);
llvm::json::Object toJSON(const questions::FrameAnswer &F);
llvm::json::Object toJSON(const questions::ReturnAnswer &R);
llvm::json::Object toJSON(const questions::CallAnswer &C);
llvm::json::Object toJSON(const symbols::SymbolAt &S);
/// JsonExceptionCommands.cpp.
llvm::json::Object toJSON(const exceptions::ExceptionAnswer &E);

llvm::json::Object toJSON(const questions::SearchEnd &End);
llvm::Expected<llvm::json::Value>
toJSON(llvm::Expected<questions::SearchEnd> End);
/// The answer of a question that may find nothing, which is null.
template <class Answer>
llvm::Expected<llvm::json::Value>
toJSON(llvm::Expected<std::optional<Answer>> Found) {
  if (!Found)
    return Found.takeError();
  return *Found ? llvm::json::Value(toJSON(**Found))
                : llvm::json::Value(nullptr);
}

template <class Answer>
llvm::json::Array jsonArray(const std::vector<Answer> &Answers) {
  llvm::json::Array Result;
  for (const Answer &A : Answers)
    Result.push_back(toJSON(A));
  return Result;
}

} // namespace chronicle::jsonapi

#endif
