// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Answers about calls, with the values that LLDB shows.

#ifndef CHRONICLE_LLDB_PLUGIN_VALUES_DESCRIBEDCALL_H
#define CHRONICLE_LLDB_PLUGIN_VALUES_DESCRIBEDCALL_H

#include "lldb-plugin/target/Style.h"
#include "lldb-plugin/values/CallReader.h"
#include "query/json/JsonAnswers.h"

namespace chronicle::values {

/// What LLDB adds to a call.
struct CallValues {
  Timestamp Start = 0; ///< where a breakpoint on the function stops
  std::optional<std::vector<Parameter>> Parameters; ///< nothing: no debug info
  CallResult Result;
};

/// Adds them to the JSON of a call.
void addValues(const CallValues &Values, llvm::json::Object &To);

/// An answer of the engine, with the values that LLDB shows.
template <class Answer> struct Described {
  Answer Call;
  CallValues Values;
};

template <class Answer> llvm::json::Object toJSON(const Described<Answer> &D) {
  llvm::json::Object O = jsonapi::toJSON(D.Call);
  addValues(D.Values, O);
  return O;
}

/// The function that the code belongs to, with the types of its parameters;
/// Inlined: the innermost one that was inlined there.
std::string fullName(const questions::Place &Place, bool Inlined);
/// The same without the types, because the parameters are printed with their
/// values.
std::string functionName(const questions::Place &Place,
                         const target::Style &How, bool Inlined = false);

} // namespace chronicle::values

#endif
