// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The questions that can be asked in JSON: one function each, in the files
/// Json*Commands.cpp. docs/query.md describes them.

#ifndef CHRONICLE_QUERY_JSONCOMMANDS_H
#define CHRONICLE_QUERY_JSONCOMMANDS_H

#include "query/JsonArguments.h"
#include "query/Trace.h"

namespace chronicle {

/// What a command has to work with.
struct JsonQuery {
  const Trace &T;
  JsonArguments &Arguments;
  const Cancellation &Cancel;
  /// Takes one result of a search; false: nobody wants more.
  llvm::function_ref<bool(llvm::json::Value)> Emit;
};

struct JsonCommand {
  llvm::StringRef Name;
  /// Gives its results one by one; what it returns is an object that says how
  /// the search ended. Others return their one result.
  bool Searches;
  llvm::Expected<llvm::json::Value> (*Run)(JsonQuery &);
};

/// Null: there is none of that name.
const JsonCommand *findJsonCommand(llvm::StringRef Name);
llvm::ArrayRef<JsonCommand> jsonCommands();

/// The tables of the files Json*Commands.cpp.
llvm::ArrayRef<JsonCommand> jsonStateCommands();
llvm::ArrayRef<JsonCommand> jsonWriteCommands();
llvm::ArrayRef<JsonCommand> jsonExecutionCommands();
llvm::ArrayRef<JsonCommand> jsonCallCommands();
llvm::ArrayRef<JsonCommand> jsonEventCommands();
llvm::ArrayRef<JsonCommand> jsonSymbolCommands();

} // namespace chronicle

#endif
