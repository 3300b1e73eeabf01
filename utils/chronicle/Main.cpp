// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The `chronicle` program: finds the command, parses its options and runs it.

#include "query/base/UnknownName.h"
#include "utils/chronicle/Subcommand.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace llvm;

namespace chronicle::cli {

static Command *FirstCommand, **LastLink = &FirstCommand;

Command::Command(const CommandInfo &Info)
    : cl::SubCommand(Info.Name, Info.Summary), Info(Info) {
  *LastLink = this;
  LastLink = &Next;
}

const Command *Command::first() { return FirstCommand; }

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

static void printVersion(raw_ostream &Out) {
  Out << "chronicle " CHRONICLE_VERSION << '\n';
}

static std::vector<const Command *> sortedCommands() {
  std::vector<const Command *> Commands;
  for (const Command *C = Command::first(); C; C = C->next())
    Commands.push_back(C);
  llvm::sort(Commands, [](const Command *A, const Command *B) {
    return A->info().Name < B->info().Name;
  });
  return Commands;
}

static void printOverview(raw_ostream &Out) {
  Out << "Chronicle records a complete run of a program and answers questions "
         "about any moment of it.\n\n"
         "Usage: chronicle <command> [options] [arguments]\n\nCommands:\n";
  for (const Command *C : sortedCommands())
    Out << "  " << left_justify(C->info().Name, 12) << C->info().Summary
        << '\n';
  Out << "\nExamples:\n"
         "  chronicle record ./program argument   record a run into trace.db\n"
         "  chronicle info trace.db               show what was recorded\n"
         "  chronicle verify trace.db             check that it is exact\n"
         "  chronicle debug trace.db              open it in LLDB\n\n"
         "'chronicle <command> --help' explains a command and its options. "
         "'chronicle --version' prints\nthe version.\n";
}

/// The command's own options, sorted by name. Leaves out LLVM's, which every
/// subcommand has in the generic category.
static SmallVector<cl::Option *, 16> visibleOptions(Command &C) {
  SmallVector<cl::Option *, 16> Options;
  for (auto &[Name, Option] : cl::getRegisteredOptions(C)) {
    bool Ours = is_contained(Option->Categories, &cl::getGeneralCategory());
    if (Ours && Option->getOptionHiddenFlag() == cl::NotHidden)
      Options.push_back(Option);
  }
  llvm::sort(Options, [](const cl::Option *A, const cl::Option *B) {
    return A->ArgStr < B->ArgStr;
  });
  return Options;
}

static void printHelp(Command &C) {
  const CommandInfo &Info = C.info();
  outs() << "chronicle " << Info.Name << ": " << Info.Summary
         << "\n\nUsage: chronicle " << Info.Name << ' ' << Info.Arguments
         << '\n';
  if (!Info.Details.empty())
    outs() << '\n' << Info.Details.rtrim('\n') << '\n';
  SmallVector<cl::Option *, 16> Options = visibleOptions(C);
  if (!Options.empty()) {
    size_t Width = 0;
    for (cl::Option *O : Options)
      Width = std::max(Width, O->getOptionWidth());
    outs() << "\nOptions:\n";
    for (cl::Option *O : Options)
      O->printOptionInfo(Width);
  }
  if (!Info.Examples.empty())
    outs() << "\nExamples:\n" << Info.Examples.rtrim('\n') << '\n';
}

static Command *findCommand(StringRef Name) {
  for (Command *C = FirstCommand; C; C = const_cast<Command *>(C->next()))
    if (C->info().Name == Name)
      return C;
  return nullptr;
}

static int failUnknownCommand(StringRef Name) {
  std::vector<StringRef> Names;
  for (const Command *C : sortedCommands())
    Names.push_back(C->info().Name);
  printError("chronicle", base::unknownName("command", Name, Names,
                                            "'chronicle --help' lists them"));
  return 2;
}

/// Index in Args of the program to run, or Args.size(). Everything from there
/// on belongs to that program and must not reach LLVM's parser, which would
/// expand @file arguments and take the program's options for Chronicle's.
static size_t findProgram(Command &C, ArrayRef<const char *> Args) {
  auto &Options = cl::getRegisteredOptions(C);
  for (size_t I = 0; I < Args.size(); ++I) {
    StringRef Arg = Args[I];
    if (Arg == "--")
      return I + 1;
    if (Arg.size() < 2 || Arg[0] != '-')
      return I;
    StringRef Name = Arg.ltrim('-');
    auto Found = Options.find(Name);
    if (Found != Options.end() &&
        Found->second->getValueExpectedFlag() == cl::ValueRequired)
      ++I;
  }
  return Args.size();
}

/// The error of LLVM's parser in Chronicle's words.
static std::string optionError(StringRef Complaint) {
  std::string Text;
  SmallVector<StringRef, 4> Lines;
  Complaint.split(Lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef Line : Lines) {
    Line.consume_front("chronicle: ");
    Line = Line.split("  Try:").first.rtrim();
    if (Line.consume_front("Unknown command line argument "))
      Text += "unknown option " + Line.rtrim('.').str();
    else if (Line.consume_front("Did you mean "))
      Text += "; did you mean " + Line.str();
    else
      Text += (Text.empty() ? "" : " ") + Line.str();
  }
  return Text;
}

/// The first argument that is neither an option nor one of the arguments that
/// the command takes.
static std::optional<StringRef>
unexpectedArgument(Command &C, ArrayRef<const char *> Args) {
  size_t Left = C.PositionalOpts.size();
  while (true) {
    Args = Args.drop_front(std::min(findProgram(C, Args), Args.size()));
    if (Args.empty())
      return std::nullopt;
    if (Left-- == 0)
      return Args.front();
    Args = Args.drop_front();
  }
}

static int runCommand(Command &C, ArrayRef<const char *> Args) {
  size_t ProgramAt = C.info().TakesProgram ? findProgram(C, Args) : Args.size();
  ProgramAt = std::min(ProgramAt, Args.size());
  ArrayRef<const char *> Program = Args.drop_front(ProgramAt);
  Args = Args.take_front(ProgramAt);
  if (C.info().TakesProgram && !Args.empty() && StringRef(Args.back()) == "--")
    Args = Args.drop_back();

  for (StringRef Arg : Args) {
    if (Arg == "--")
      break;
    if (Arg == "--help" || Arg == "-help" || Arg == "-h") {
      printHelp(C);
      return 0;
    }
  }
  if (std::optional<StringRef> Extra = unexpectedArgument(C, Args))
    return failUsage(C, "unexpected argument '" + *Extra + "'");
  SmallVector<const char *, 16> Argv{"chronicle", C.info().Name.data()};
  Argv.append(Args.begin(), Args.end());
  std::string Complaint;
  raw_string_ostream Stream(Complaint);
  if (!cl::ParseCommandLineOptions(Argv.size(), Argv.data(), "", &Stream))
    return Complaint.empty() ? pointToHelp(C) // a bad value is reported
                             : failUsage(C, optionError(Complaint));
  return C.info().Run(Program);
}

static int chronicleMain(ArrayRef<const char *> Args) {
  if (const char *NoColor = std::getenv("NO_COLOR"); NoColor && *NoColor) {
    outs().enable_colors(false);
    errs().enable_colors(false);
  }
  if (Args.empty()) {
    printOverview(errs());
    return 2;
  }
  StringRef Name = Args.consume_front();
  if (Name == "--version" || Name == "-version" || Name == "-V") {
    printVersion(outs());
    return 0;
  }
  bool Help = Name == "--help" || Name == "-help" || Name == "-h";
  if (Help || Name == "help") {
    if (Help || Args.empty()) {
      printOverview(outs());
      return 0;
    }
    Command *C = findCommand(Args[0]);
    if (!C)
      return failUnknownCommand(Args[0]);
    printHelp(*C);
    return 0;
  }
  Command *C = findCommand(Name);
  if (!C)
    return failUnknownCommand(Name);
  return runCommand(*C, Args);
}

} // namespace chronicle::cli

int main(int argc, const char **argv) {
  return chronicle::cli::chronicleMain(
      ArrayRef(argv, argc).drop_front(argc > 0));
}
