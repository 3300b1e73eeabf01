// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// exceptions.

#include "lldb-plugin/commands/CommandCall.h"
#include "lldb-plugin/target/Describe.h"
#include "lldb-plugin/target/Table.h"
#include "query/json/JsonAnswers.h"
#include "query/questions/QueryError.h"
#include "trace-format/Text.h"

using namespace llvm;

namespace chronicle::commands {

using exceptions::ExceptionAnswer;

/// "read_file at config.cpp:12, time 1,234".
static std::string momentText(const exceptions::RuntimeCall &Call,
                              const target::Style &How) {
  return formatv("{0}, time {1}", target::placeOf(Call.Where, Call.Caller, How),
                 groupedDigits(Call.Time));
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
  const target::Style How = Call.style();
  target::Table Rows({{"time", target::Table::Role::Time},
                      "thread",
                      "exception",
                      "what",
                      {"thrown at", target::Table::Role::Place},
                      {"caught at", target::Table::Role::Place}});
  for (const ExceptionAnswer &E : Found->Answers)
    Rows.add({groupedDigits(E.Thrown.Time), std::to_string(E.Thread),
              (E.Type.empty() ? "?" : How.name(E.Type)) +
                  (E.Rethrown ? " again" : ""),
              E.What ? "\"" + target::escapedText(*E.What) + "\"" : "-",
              target::placeOf(E.Thrown.Where, E.Thrown.Caller, How),
              E.Caught ? momentText(*E.Caught, How) : "not caught"});
  Call.print(Rows, "No exceptions.");
  Call.printEnd(*Found);
  return Error::success();
}

ArrayRef<CommandSpec> exceptionCommands() {
  static const OptionSpec Options[] = {
      FromOption,        ToOption,   ThreadOption, LimitOption,
      OldestFirstOption, FullOption, JsonOption};
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
