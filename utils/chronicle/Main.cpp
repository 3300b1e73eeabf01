// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The `chronicle` program: finds the command, parses its options and runs it.

#include "query/base/UnknownName.h"
#include "utils/chronicle/Help.h"
#include "utils/chronicle/Options.h"
#include "utils/chronicle/Terminal.h"
#include "utils/chronicle/manual/Version.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <unistd.h>

using namespace llvm;

namespace chronicle::cli {

static Command *FirstCommand, **LastLink = &FirstCommand;

Command::Command(const CommandInfo &Info)
    : cl::SubCommand(Info.Name, Info.Summary), Info(Info),
      Color("color", cl::sub(*this), cl::init(ColorWhen::Auto),
            cl::value_desc("WHEN"), cl::desc("Use colours"),
            cl::values(clEnumValN(ColorWhen::Auto, "auto", ""),
                       clEnumValN(ColorWhen::Always, "always", ""),
                       clEnumValN(ColorWhen::Never, "never", ""))) {
  *LastLink = this;
  LastLink = &Next;
}

std::vector<Command *> Command::all() {
  std::vector<Command *> Commands;
  for (Command *C = FirstCommand; C; C = C->Next)
    Commands.push_back(C);
  llvm::sort(Commands, [](const Command *A, const Command *B) {
    return A->info().Name < B->info().Name;
  });
  return Commands;
}

Command *Command::find(StringRef Name) {
  for (Command *C = FirstCommand; C; C = C->Next)
    if (C->info().Name == Name)
      return C;
  return nullptr;
}

static void printError(const Twine &Program, const Twine &Text) {
  errs() << Program << ": ";
  WithColor(errs(), HighlightColor::Error) << "error: ";
  errs() << Text << '\n';
}

int fail(const Command &C, int Status, const Twine &Text) {
  printError("chronicle " + C.info().Name, Text);
  return Status;
}

int fail(const Command &C, int Status, Error E) {
  return fail(C, Status, toString(std::move(E)));
}

static int pointToHelp(const Command &C) {
  errs() << "See 'chronicle " << C.info().Name << " --help'.\n";
  return C.info().UsageStatus;
}

int failUsage(const Command &C, const Twine &Text) {
  fail(C, 0, Text);
  return pointToHelp(C);
}

int failNoTrace(const Command &C) {
  return failUsage(
      C, "no trace given: name the file that 'chronicle record' wrote");
}

void reportInvalidNumber(const cl::Option &O, StringRef Value) {
  printError("chronicle", Twine("invalid ") +
                              (O.ArgStr.size() == 1 ? "-" : "--") + O.ArgStr +
                              " '" + Value + "': expected a number");
}

int failUnknownCommand(StringRef Name) {
  // A common mistake is to leave out the command.
  std::string Meant;
  if (Name.ends_with(".db") && sys::fs::exists(Name))
    Meant = "debug";
  else if (Name.contains('/') && sys::fs::can_execute(Name))
    Meant = "record";
  if (!Meant.empty()) {
    printError("chronicle", "'" + Name +
                                "' is not a command; did you mean 'chronicle " +
                                Meant + " " + Name + "'?");
    return 2;
  }
  std::vector<StringRef> Names;
  for (const Command *C : Command::all())
    Names.push_back(C->info().Name);
  printError("chronicle", base::unknownName("command", Name, Names,
                                            "'chronicle --help' lists them"));
  return 2;
}

/// The first argument that is neither an option nor one of the arguments that
/// the command takes.
static std::optional<StringRef>
unexpectedArgument(Command &C, ArrayRef<const char *> Args) {
  size_t Left = C.PositionalOpts.size();
  while (true) {
    Args = Args.drop_front(std::min(findOperand(C, Args), Args.size()));
    if (Args.empty())
      return std::nullopt;
    if (Left-- == 0)
      return Args.front();
    Args = Args.drop_front();
  }
}

static bool isHelp(StringRef Arg) {
  return Arg == "--help" || Arg == "-help" || Arg == "-h";
}

/// Applies --color before LLVM parses the options, so that it holds for help
/// and for errors. A wrong value is reported later, with the other options.
static void applyColor(ArrayRef<const char *> Args) {
  for (size_t I = 0; I < Args.size(); ++I) {
    StringRef Value = Args[I];
    if (Value == "--color" && I + 1 < Args.size())
      Value = Args[I + 1];
    else if (!Value.consume_front("--color="))
      continue;
    setColors(StringSwitch<ColorWhen>(Value)
                  .Case("always", ColorWhen::Always)
                  .Case("never", ColorWhen::Never)
                  .Default(ColorWhen::Auto));
  }
}

static int runCommand(Command &C, ArrayRef<const char *> Args) {
  size_t ProgramAt = C.info().TakesProgram ? findOperand(C, Args) : Args.size();
  ProgramAt = std::min(ProgramAt, Args.size());
  ArrayRef<const char *> Program = Args.drop_front(ProgramAt);
  Args = Args.take_front(ProgramAt);
  if (C.info().TakesProgram && !Args.empty() && StringRef(Args.back()) == "--")
    Args = Args.drop_back();

  applyColor(Args);
  for (StringRef Arg : Args) {
    if (Arg == "--")
      break;
    if (isHelp(Arg)) {
      printHelp(C);
      return 0;
    }
  }
  if (std::string Wrong = wrongOption(C, Args); !Wrong.empty())
    return failUsage(C, Wrong);
  if (std::optional<StringRef> Extra = unexpectedArgument(C, Args))
    return failUsage(C, "unexpected argument '" + *Extra + "'");
  SmallVector<const char *, 16> Argv{"chronicle", C.info().Name.data()};
  Argv.append(Args.begin(), Args.end());
  std::string Complaint;
  raw_string_ostream Stream(Complaint);
  if (!cl::ParseCommandLineOptions(Argv.size(), Argv.data(), "", &Stream))
    return Complaint.empty() ? pointToHelp(C) // a bad number is reported
                             : failUsage(C, StringRef(Complaint).trim());
  return C.info().Run(Program);
}

static int chronicleMain(ArrayRef<const char *> Args) {
  // Options before the command.
  ArrayRef<const char *> Before = Args;
  while (!Args.empty() && StringRef(Args.front()).starts_with("--color")) {
    bool HasValue = StringRef(Args.front()).contains('=');
    Args = Args.drop_front(std::min<size_t>(HasValue ? 1 : 2, Args.size()));
  }
  setColors(ColorWhen::Auto);
  Before = Before.drop_back(Args.size());
  Command &Help = *Command::find("help");
  if (std::string Wrong = wrongOption(Help, Before); !Wrong.empty()) {
    printError("chronicle", Wrong);
    return 2;
  }
  applyColor(Before);
  if (Args.empty()) {
    printUsage(errs());
    return 2;
  }
  StringRef Name = Args.front();
  Args = Args.drop_front();
  if (Name == "--version" || Name == "-version" || Name == "-V") {
    outs() << manual::versionText();
    return 0;
  }
  if (isHelp(Name))
    return runCommand(Help, {});
  if (Name.starts_with("-")) {
    printError("chronicle",
               base::unknownName("option", Name,
                                 {"--color", "--help", "--version"},
                                 "options follow the command"));
    return 2;
  }
  if (Command *C = Command::find(Name))
    return runCommand(*C, Args);
  return failUnknownCommand(Name);
}

} // namespace chronicle::cli

/// Traces and the files of a program are mapped. If one of them becomes shorter
/// meanwhile, reading the rest of it ends in SIGBUS.
static void endAtLostFile(int Signal, siginfo_t *Info, void *) {
  static const char Message[] =
      "chronicle: error: a file became shorter while it was open (the trace, "
      "or a file of the program): its contents are lost; nothing more can be "
      "answered\n";
  if (Info->si_code == BUS_ADRERR &&
      ::write(STDERR_FILENO, Message, sizeof(Message) - 1) > 0)
    ::_exit(2);
  ::signal(Signal, SIG_DFL);
  ::raise(Signal);
}

int main(int argc, const char **argv) {
  struct sigaction Action = {};
  Action.sa_sigaction = endAtLostFile;
  Action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &Action, nullptr);
  int Status =
      chronicle::cli::chronicleMain(ArrayRef(argv, argc).drop_front(argc > 0));
  // LLVM would end the program with a message of its own.
  outs().flush();
  if (std::error_code EC = outs().error()) {
    outs().clear_error();
    chronicle::cli::printError(
        "chronicle", "cannot write to standard output: " + EC.message());
    return Status ? Status : 2;
  }
  return Status;
}
