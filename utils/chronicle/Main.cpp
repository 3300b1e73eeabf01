// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `chronicle` program: finds the command, parses its options, runs it.

#include "utils/chronicle/Command.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace llvm;

namespace chronicle {

static Command *FirstCommand, **LastLink = &FirstCommand;

Command::Command(const CommandInfo &Info)
    : cl::SubCommand(Info.Name, Info.Summary), Info(Info) {
  *LastLink = this;
  LastLink = &Next;
}

const Command *Command::first() { return FirstCommand; }

int fail(const Command &C, int Status, const Twine &Text) {
  errs() << "chronicle " << C.info().Name << ": ";
  WithColor(errs(), HighlightColor::Error) << "error: ";
  errs() << Text << '\n';
  return Status;
}

int fail(const Command &C, int Status, Error E) {
  return fail(C, Status, toString(std::move(E)));
}

static int pointToHelp(const Command &C) {
  errs() << "Try 'chronicle " << C.info().Name << " --help'.\n";
  return C.info().UsageStatus;
}

int failUsage(const Command &C, const Twine &Text) {
  fail(C, 0, Text);
  return pointToHelp(C);
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
  Out << "Chronicle records a whole run of a program and answers questions "
         "about any moment of it.\n\n"
         "Usage: chronicle <command> [options] [arguments]\n\nCommands:\n";
  for (const Command *C : sortedCommands())
    Out << "  " << left_justify(C->info().Name, 10) << C->info().Summary
        << '\n';
  Out << "\nExamples:\n"
         "  chronicle record ./program argument   record a run into trace.db\n"
         "  chronicle info trace.db               what was recorded\n"
         "  chronicle verify trace.db             prove that it is exact\n\n"
         "'chronicle <command> --help' explains a command and its options; "
         "'chronicle --version' shows the version.\n";
}

/// The command's own options, by name. LLVM's are in every subcommand, in its
/// generic category, and are none of the user's business.
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

static int unknownCommand(StringRef Name) {
  StringRef Best;
  unsigned BestDistance = Name.size() / 2 + 1;
  for (const Command *C : sortedCommands()) {
    unsigned Distance = Name.edit_distance(C->info().Name);
    if (Distance < BestDistance) {
      BestDistance = Distance;
      Best = C->info().Name;
    }
  }
  errs() << "chronicle: ";
  WithColor(errs(), HighlightColor::Error) << "error: ";
  errs() << "there is no command '" << Name << "'";
  if (!Best.empty())
    errs() << "; did you mean '" << Best << "'?\n";
  else
    errs() << "; 'chronicle --help' lists them\n";
  return 2;
}

/// Index in Args of the program to run, or Args.size(). Everything from there
/// on is the program's and must not reach LLVM's parser, which would expand
/// @file arguments and look for our options among the program's.
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

/// What LLVM's parser complains about, without its own names and advice.
static std::string optionError(StringRef Complaint) {
  std::string Text;
  SmallVector<StringRef, 4> Lines;
  Complaint.split(Lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef Line : Lines) {
    Line.consume_front("chronicle: ");
    Line = Line.split("  Try:").first.rtrim();
    Text += (Text.empty() ? "" : " ") + Line.str();
  }
  return Text;
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
  SmallVector<const char *, 16> Argv{"chronicle", C.info().Name.data()};
  Argv.append(Args.begin(), Args.end());
  std::string Complaint;
  raw_string_ostream Stream(Complaint);
  if (!cl::ParseCommandLineOptions(Argv.size(), Argv.data(), "", &Stream))
    return Complaint.empty() ? pointToHelp(C) // a bad value is reported already
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
      return unknownCommand(Args[0]);
    printHelp(*C);
    return 0;
  }
  Command *C = findCommand(Name);
  if (!C)
    return unknownCommand(Name);
  return runCommand(*C, Args);
}

} // namespace chronicle

int main(int argc, const char **argv) {
  return chronicle::chronicleMain(ArrayRef(argv, argc).drop_front(argc > 0));
}
