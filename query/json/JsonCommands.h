// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The commands of `chronicle query`: one function each, in the files
/// Json*Commands.cpp. docs/query.md describes them.

#ifndef CHRONICLE_QUERY_JSON_JSONCOMMANDS_H
#define CHRONICLE_QUERY_JSON_JSONCOMMANDS_H

#include "query/Trace.h"
#include "query/json/JsonArguments.h"

namespace chronicle::jsonapi {

/// What a command gets.
struct JsonQuery {
  const query::Trace &T;
  JsonArguments &Arguments;
  const answers::Cancellation &Cancel;
  /// Sends one result of a search. False: the client wants no more.
  llvm::function_ref<bool(llvm::json::Value)> Emit;
};

struct JsonCommand {
  llvm::StringRef Name;
  /// A search emits its results one by one and returns an object that says how
  /// it ended. Other commands return their one result.
  bool Searches;
  llvm::Expected<llvm::json::Value> (*Run)(JsonQuery &);
};

/// Null: no command has that name.
const JsonCommand *findJsonCommand(llvm::StringRef Name);
llvm::ArrayRef<JsonCommand> jsonCommands();

/// The tables of the files Json*Commands.cpp.
llvm::ArrayRef<JsonCommand> jsonStateCommands();
llvm::ArrayRef<JsonCommand> jsonWriteCommands();
llvm::ArrayRef<JsonCommand> jsonReadCommands();
llvm::ArrayRef<JsonCommand> jsonExecutionCommands();
llvm::ArrayRef<JsonCommand> jsonCallCommands();
llvm::ArrayRef<JsonCommand> jsonEventCommands();
llvm::ArrayRef<JsonCommand> jsonExceptionCommands();
llvm::ArrayRef<JsonCommand> jsonSymbolCommands();
llvm::ArrayRef<JsonCommand> jsonLogCommands();

} // namespace chronicle::jsonapi

#endif
