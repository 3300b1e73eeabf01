// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/json/JsonCommands.h"
#include "query/json/JsonValues.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::jsonapi {

ArrayRef<JsonCommand> jsonCommands() {
  static const std::vector<JsonCommand> All = [] {
    std::vector<JsonCommand> Result;
    for (ArrayRef<JsonCommand> Table :
         {jsonStateCommands(), jsonWriteCommands(), jsonReadCommands(),
          jsonExecutionCommands(), jsonCallCommands(), jsonEventCommands(),
          jsonExceptionCommands(), jsonSymbolCommands(), jsonValueCommands(),
          jsonControlCommands(), jsonHeapCommands(), jsonLogCommands()})
      append_range(Result, Table);
    sort(Result, [](const JsonCommand &A, const JsonCommand &B) {
      return A.Name < B.Name;
    });
    return Result;
  }();
  return All;
}

const JsonCommand *findJsonCommand(StringRef Name) {
  for (const JsonCommand &C : jsonCommands())
    if (C.Name == Name)
      return &C;
  return nullptr;
}

} // namespace chronicle::jsonapi
