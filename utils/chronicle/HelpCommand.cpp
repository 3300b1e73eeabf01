// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// `chronicle help`: help, and the manual pages, which the build makes.

#include "utils/chronicle/Help.h"
#include "utils/chronicle/Options.h"
#include "utils/chronicle/manual/HelpText.h"
#include "utils/chronicle/manual/ManPage.h"
#include "utils/chronicle/manual/Version.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace chronicle::cli {

static int run(ArrayRef<const char *>);
static Command
    Help({.Name = "help",
          .Summary = "explain a command",
          .Arguments = "[command | exit-status]",
          .Details = "'chronicle help record' prints the same as 'chronicle "
                     "record --help'. 'chronicle help exit-status' prints the "
                     "exit statuses of all commands.",
          .Examples = "  chronicle help record\n"
                      "  chronicle help exit-status\n",
          .Statuses = {{"0", "The help was printed."},
                       {"2", "There is no such command."}},
          .Run = run});
static cl::opt<std::string> Topic(cl::Positional, cl::sub(Help));
// For the build.
static cl::opt<std::string> ManPages("man-pages", cl::sub(Help), cl::Hidden);

static manual::CommandText textOf(Command &C) {
  const CommandInfo &Info = C.info();
  manual::CommandText Text;
  Text.Name = Info.Name;
  Text.Summary = Info.Summary;
  Text.Arguments = Info.Arguments;
  Text.Details = Info.Details;
  Text.Examples = Info.Examples;
  Text.Options = optionsOf(C);
  Text.Statuses = Info.Statuses;
  Text.Words = Info.Words;
  if (&C == &Help) {
    for (const Command *Each : Command::all())
      Text.Words.push_back(Each->info().Name);
    Text.Words.emplace_back("exit-status");
  }
  if (!Text.Words.empty())
    Text.First = manual::Operand::Word;
  else if (Info.Arguments.contains("trace.db"))
    Text.First = manual::Operand::Trace;
  else if (Info.TakesProgram)
    Text.First = manual::Operand::Program;
  return Text;
}

manual::ProgramText programText() {
  manual::ProgramText Text;
  Text.Summary = "Chronicle records a complete run of a program and answers "
                 "questions about any moment of it.";
  Text.Version = manual::version();
  for (Command *C : Command::all())
    Text.Commands.push_back(textOf(*C));
  Text.Options = commonOptions();
  manual::OptionText Version;
  Version.Letter = "V";
  Version.Name = "version";
  Version.Meaning = "Print the version, the revision, and the formats";
  Text.Options.push_back(Version);
  Text.Environment = {{"NO_COLOR",
                       "If it is set and not empty, colours are not used on a "
                       "terminal either, unless --color=always is given."}};
  Text.Examples =
      "  chronicle record ./program argument   # record a run into trace.db\n"
      "  chronicle debug trace.db              # open it in LLDB\n"
      "  chronicle info trace.db               # show what was recorded\n"
      "  chronicle verify trace.db             # check that it is exact\n";
  return Text;
}

void printHelp(Command &C) { manual::printCommandHelp(outs(), textOf(C)); }

void printUsage(raw_ostream &Out) {
  Out << "Chronicle records a run of a program and lets you debug any moment "
         "of it.\n\n"
         "  chronicle record ./program   record a run into trace.db\n"
         "  chronicle debug trace.db     open it in LLDB, where the run ended\n"
         "  chronicle --help             list all commands\n";
}

static Error writePage(StringRef Name,
                       function_ref<void(raw_ostream &)> Print) {
  return writeToOutput((ManPages + "/" + Name + ".1").str(),
                       [&](raw_ostream &Out) {
                         Print(Out);
                         return Error::success();
                       });
}

/// Writes chronicle.1 and chronicle-<command>.1 for each command.
static Error writeManPages() {
  const manual::ProgramText P = programText();
  for (const manual::CommandText &C : P.Commands)
    if (Error E = writePage("chronicle-" + C.Name.str(), [&](raw_ostream &Out) {
          manual::printCommandPage(Out, P, C);
        }))
      return E;
  return writePage("chronicle",
                   [&](raw_ostream &Out) { manual::printProgramPage(Out, P); });
}

static int run(ArrayRef<const char *>) {
  if (!ManPages.empty()) {
    if (Error E = writeManPages())
      return fail(Help, 2, std::move(E));
    return 0;
  }
  if (Topic.empty()) {
    manual::printProgramHelp(outs(), programText());
    return 0;
  }
  if (Topic == "exit-status") {
    manual::printStatuses(outs(), programText());
    return 0;
  }
  Command *C = Command::find(Topic);
  if (!C)
    return failUnknownCommand(Topic);
  printHelp(*C);
  return 0;
}

} // namespace chronicle::cli
