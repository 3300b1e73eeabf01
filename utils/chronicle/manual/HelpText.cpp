// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/manual/HelpText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;

namespace chronicle::manual {

namespace {
constexpr unsigned Columns = 80;
/// Where the meaning of an option starts, at most. Those of longer options
/// start in the next line.
constexpr unsigned WidestName = 26;

/// One line of a table: a name and its meaning.
struct Row {
  std::string Name;
  std::string Meaning;
};
} // namespace

std::string filled(StringRef Text, unsigned At) {
  std::string Result;
  unsigned Column = At;
  SmallVector<StringRef, 64> Words;
  Text.split(Words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef Word : Words) {
    if (Column > At && Column + 1 + Word.size() > Columns) {
      Result += '\n' + std::string(At, ' ');
      Column = At;
    } else if (Column > At) {
      Result += ' ';
      ++Column;
    }
    Result += Word;
    Column += Word.size();
  }
  return Result;
}

static void printHeading(raw_ostream &Out, StringRef Title) {
  Out << '\n';
  WithColor(Out, raw_ostream::SAVEDCOLOR, /*Bold=*/true) << Title << ':';
  Out << '\n';
}

static void printRows(raw_ostream &Out, ArrayRef<Row> Rows) {
  size_t Widest = 0;
  for (const Row &R : Rows)
    if (R.Name.size() <= WidestName)
      Widest = std::max(Widest, R.Name.size());
  const unsigned At = 2 + Widest + 2;
  for (const Row &R : Rows) {
    Out << "  ";
    WithColor(Out, raw_ostream::SAVEDCOLOR, /*Bold=*/true) << R.Name;
    if (R.Name.size() > Widest)
      Out << '\n' << std::string(At, ' ');
    else
      Out.indent(At - 2 - R.Name.size());
    Out << filled(R.Meaning, At) << '\n';
  }
}

static void printHelpEntries(raw_ostream &Out, StringRef Title,
                             ArrayRef<Entry> Entries) {
  if (Entries.empty())
    return;
  printHeading(Out, Title);
  std::vector<Row> Rows;
  for (const Entry &E : Entries)
    Rows.push_back({E.Name.str(), E.Meaning.str()});
  printRows(Out, Rows);
}

static void printHelpOptions(raw_ostream &Out, ArrayRef<OptionText> Options) {
  if (Options.empty())
    return;
  printHeading(Out, "Options");
  std::vector<Row> Rows;
  for (const OptionText &O : Options) {
    // Long names are below each other.
    std::string Name = O.Letter.empty() ? "    " : "";
    Name += join(O.spellings(), ", ");
    if (!O.Value.empty())
      Name += (" " + O.Value).str();
    Rows.push_back({std::move(Name), O.text()});
  }
  printRows(Out, Rows);
}

static void printExamples(raw_ostream &Out, StringRef Examples) {
  if (Examples.empty())
    return;
  printHeading(Out, "Examples");
  Out << Examples.rtrim('\n') << '\n';
}

void printProgramHelp(raw_ostream &Out, const ProgramText &P) {
  Out << filled(P.Summary, 0) << "\n\n";
  WithColor(Out, raw_ostream::SAVEDCOLOR, /*Bold=*/true) << "Usage:";
  Out << " chronicle <command> [options] [arguments]\n";
  std::vector<Entry> Commands;
  Commands.reserve(P.Commands.size());
  for (const CommandText &C : P.Commands)
    Commands.push_back({C.Name, C.Summary});
  printHelpEntries(Out, "Commands", Commands);
  printHelpOptions(Out, P.Options);
  printHelpEntries(Out, "Environment", P.Environment);
  printExamples(Out, P.Examples);
  Out << '\n'
      << "'chronicle <command> --help' explains a command and its options.\n"
         "'chronicle help exit-status' lists all exit statuses.\n";
}

void printCommandHelp(raw_ostream &Out, const CommandText &C) {
  Out << "chronicle " << C.Name << ": " << C.Summary << "\n\n";
  WithColor(Out, raw_ostream::SAVEDCOLOR, /*Bold=*/true) << "Usage:";
  Out << " chronicle " << C.Name << ' ' << C.Arguments << '\n';
  for (const std::string &Paragraph : paragraphs(C.Details))
    Out << '\n'
        << (StringRef(Paragraph).starts_with(" ") ? Paragraph
                                                  : filled(Paragraph, 0))
        << '\n';
  printHelpOptions(Out, C.Options);
  printHelpEntries(Out, "Exit status", C.Statuses);
  printExamples(Out, C.Examples);
}

void printStatuses(raw_ostream &Out, const ProgramText &P) {
  Out << "The exit statuses of all commands.\n";
  for (const CommandText &C : P.Commands)
    printHelpEntries(Out, C.Name, C.Statuses);
}

} // namespace chronicle::manual
