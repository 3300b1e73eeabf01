// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// exceptions.

#include "query/json/JsonAnswers.h"
#include "query/json/JsonCommands.h"
#include "query/json/JsonPlaces.h"

using namespace llvm;

namespace chronicle::jsonapi {

using exceptions::ExceptionAnswer;

static json::Object jsonCall(const exceptions::RuntimeCall &C) {
  json::Object O{{"time", C.Time},
                 {"pc", hexNumber(C.Where.Pc)},
                 {"symbol", toJSON(C.Where)}};
  if (C.Caller)
    O["caller"] = toJSON(C.Caller);
  return O;
}

json::Object toJSON(const ExceptionAnswer &E) {
  json::Object O{{"thread", E.Thread},
                 {"rethrown", E.Rethrown},
                 {"object", hexNumber(E.Object)},
                 {"type", nullptr},
                 {"what", nullptr},
                 {"thrown", jsonCall(E.Thrown)},
                 {"caught", nullptr}};
  if (!E.Type.empty())
    O["type"] = jsonText(E.Type);
  if (E.What)
    O["what"] = jsonText(*E.What);
  if (E.Caught)
    O["caught"] = jsonCall(*E.Caught);
  return O;
}

static Expected<json::Value> exceptions(JsonQuery &Q) {
  questions::SearchOptions Options = searchArguments(Q);
  Options.Backward = Q.Arguments.flag("backward", false);
  Options.Thread = threadArgument(Q);
  if (Error E = Q.Arguments.finish())
    return E;
  return toJSON(exceptions::searchExceptions(
      Q.T, Options, [&](const ExceptionAnswer &E) { return Q.Emit(toJSON(E)); },
      Q.Cancel));
}

ArrayRef<JsonCommand> jsonExceptionCommands() {
  static const JsonCommand Table[] = {{"exceptions", true, exceptions}};
  return Table;
}

} // namespace chronicle::jsonapi
