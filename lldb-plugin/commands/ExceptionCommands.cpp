// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// exceptions.

#include "lldb-plugin/commands/CommandCall.h"
#include "lldb-plugin/target/Describe.h"
#include "lldb-plugin/target/Table.h"
#include "query/json/JsonAnswers.h"
#include "query/questions/QueryError.h"

using namespace llvm;

namespace chronicle::commands {

using exceptions::ExceptionAnswer;

/// "read_file at config.cpp:12, time 1234".
static std::string momentText(const exceptions::RuntimeCall &Call) {
  return formatv("{0}, time {1}", target::placeOf(Call.Where, Call.Caller),
                 Call.Time);
}

static Error exceptions(CommandCall &Call, target::LoadedTrace &Loaded) {
  Expected<questions::SearchOptions> Options = Call.searchOptions(Loaded);
  if (!Options)
    return Options.takeError();
  Expected<SearchResult<ExceptionAnswer>> Found = Call.collect<ExceptionAnswer>(
      [&](questions::Visitor<ExceptionAnswer> Visit,
          const answers::Cancellation &Cancel) {
        return exceptions::searchExceptions(Loaded.trace(), *Options, Visit,
                                            Cancel);
      });
  if (!Found) {
    if (Call.json())
      return Found.takeError();
    // A program that cannot throw has no exceptions; say how that is known.
    return handleErrors(Found.takeError(),
                        [&](const questions::QueryError &E) -> Error {
                          if (E.Code != "not-found")
                            return createStringError(E.Message);
                          Call.print("No exceptions: " + E.Message + ".\n");
                          return Error::success();
                        });
  }
  if (Call.json()) {
    Call.printResults(jsonapi::jsonArray(Found->Answers), *Found);
    return Error::success();
  }
  target::Table Rows(
      {"time", "thread", "exception", "what", "thrown at", "caught at"});
  for (const ExceptionAnswer &E : Found->Answers)
    Rows.add({std::to_string(E.Thrown.Time), std::to_string(E.Thread),
              (E.Type.empty() ? "?" : E.Type) + (E.Rethrown ? " again" : ""),
              E.What ? "\"" + target::escapedText(*E.What) + "\"" : "-",
              target::placeOf(E.Thrown.Where, E.Thrown.Caller),
              E.Caught ? momentText(*E.Caught) : "not caught"});
  Call.print(Rows.empty() ? "No exceptions.\n" : Rows.text());
  Call.printEnd(*Found);
  return Error::success();
}

ArrayRef<CommandSpec> exceptionCommands() {
  static const OptionSpec Options[] = {FromOption,        ToOption,
                                       ThreadOption,      LimitOption,
                                       OldestFirstOption, JsonOption};
  static const CommandSpec Table[] = {
      {.Name = "exceptions",
       .Run = exceptions,
       .Help = "Show the C++ exceptions of the run: type, what(), thrown at, "
               "caught at.",
       .Details =
           "Newest first. An exception that is thrown again by a handler has "
           "a row of its own. what() is shown if recorded memory has it: for "
           "classes that use what() of std::runtime_error or std::logic_error, "
           "and where the program itself called what(). 'chronicle goto' takes "
           "the times.\n",
       .Examples = "  chronicle exceptions\n"
                   "  chronicle exceptions --to -1 --limit 1\n",
       .Options = Options,
       .MostWords = 0},
  };
  return Table;
}

} // namespace chronicle::commands
