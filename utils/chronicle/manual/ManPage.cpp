// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/manual/ManPage.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace chronicle::manual {

/// Text as troff prints it unchanged. Without the escapes it would make a
/// hyphen of '-' and typographic signs of quotes, which cannot be pasted into a
/// shell, and take a line that starts with a dot for a request.
static std::string forTroff(StringRef Text) {
  std::string Result;
  bool LineStart = true;
  for (char C : Text) {
    if (LineStart && (C == '.' || C == '\''))
      Result += "\\&";
    LineStart = C == '\n';
    switch (C) {
    case '\\':
      Result += "\\e";
      break;
    case '-':
      Result += "\\-";
      break;
    case '\'':
      Result += "\\(aq";
      break;
    case '"':
      Result += "\\(dq";
      break;
    case '`':
      Result += "\\(ga";
      break;
    case '^':
      Result += "\\(ha";
      break;
    case '~':
      Result += "\\(ti";
      break;
    default:
      Result += C;
    }
  }
  return Result;
}

static std::string bold(StringRef Text) {
  return "\\fB" + forTroff(Text) + "\\fR";
}

static std::string italic(StringRef Text) {
  return "\\fI" + forTroff(Text) + "\\fR";
}

static void printPageHeader(raw_ostream &Out, const ProgramText &P,
                            StringRef Name, StringRef Summary) {
  Out << ".TH " << StringRef(Name).upper() << " 1 \"\" \"Chronicle "
      << forTroff(P.Version) << "\" \"Chronicle\"\n"
      << ".nh\n.ad l\n" // commands and options are not to be broken
      << ".SH NAME\n"
      << forTroff(Name) << " \\- " << forTroff(Summary) << '\n';
}

static void printVerbatim(raw_ostream &Out, StringRef Text) {
  Out << ".nf\n" << forTroff(Text.rtrim('\n')) << "\n.fi\n";
}

static void printPageEntries(raw_ostream &Out, StringRef Title,
                             ArrayRef<Entry> Entries) {
  if (Entries.empty())
    return;
  Out << ".SH " << Title << '\n';
  for (const Entry &E : Entries)
    Out << ".TP\n" << bold(E.Name) << '\n' << forTroff(E.Meaning) << '\n';
}

static void printPageOptions(raw_ostream &Out, ArrayRef<OptionText> Options) {
  if (Options.empty())
    return;
  Out << ".SH OPTIONS\n";
  for (const OptionText &O : Options) {
    Out << ".TP\n";
    ListSeparator Comma;
    for (const std::string &Spelling : O.spellings())
      Out << Comma << bold(Spelling);
    if (!O.Value.empty())
      Out << ' ' << italic(O.Value);
    Out << '\n' << forTroff(O.text()) << '\n';
  }
}

static void printSeeAlso(raw_ostream &Out, const ProgramText &P,
                         StringRef Self) {
  Out << ".SH SEE ALSO\n";
  ListSeparator Comma(",\n");
  if (!Self.empty())
    Out << Comma << bold("chronicle") << "(1)";
  for (const CommandText &C : P.Commands)
    if (C.Name != Self)
      Out << Comma << bold(("chronicle-" + C.Name).str()) << "(1)";
  Out << '\n';
}

void printProgramPage(raw_ostream &Out, const ProgramText &P) {
  printPageHeader(Out, P, "chronicle",
                  "record a run of a program and debug any moment of it");
  Out << ".SH SYNOPSIS\n"
      << bold("chronicle") << ' ' << italic("command")
      << " [options] [arguments]\n.SH DESCRIPTION\n"
      << forTroff(P.Summary) << "\n.SH COMMANDS\n";
  for (const CommandText &C : P.Commands)
    Out << ".TP\n"
        << bold(("chronicle-" + C.Name).str()) << "(1)\n"
        << forTroff(C.Summary) << '\n';
  printPageOptions(Out, P.Options);
  printPageEntries(Out, "ENVIRONMENT", P.Environment);
  Out << ".SH EXIT STATUS\n";
  for (const CommandText &C : P.Commands) {
    Out << ".SS chronicle " << forTroff(C.Name) << '\n';
    for (const Entry &E : C.Statuses)
      Out << ".TP\n" << bold(E.Name) << '\n' << forTroff(E.Meaning) << '\n';
  }
  Out << ".SH EXAMPLES\n";
  printVerbatim(Out, P.Examples);
  printSeeAlso(Out, P, "");
}

void printCommandPage(raw_ostream &Out, const ProgramText &P,
                      const CommandText &C) {
  printPageHeader(Out, P, ("chronicle-" + C.Name).str(), C.Summary);
  Out << ".SH SYNOPSIS\n"
      << bold(("chronicle " + C.Name).str()) << ' ' << forTroff(C.Arguments)
      << "\n.SH DESCRIPTION\n";
  ListSeparator NewParagraph(".PP\n");
  for (StringRef Paragraph : paragraphs(C.Details)) {
    Out << NewParagraph;
    if (Paragraph.starts_with(" "))
      printVerbatim(Out, Paragraph);
    else
      Out << forTroff(Paragraph) << '\n';
  }
  printPageOptions(Out, C.Options);
  printPageEntries(Out, "EXIT STATUS", C.Statuses);
  if (!C.Examples.empty()) {
    Out << ".SH EXAMPLES\n";
    printVerbatim(Out, C.Examples);
  }
  printSeeAlso(Out, P, C.Name);
}

} // namespace chronicle::manual
