// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/manual/Completion.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace chronicle::manual {

/// Text within the single quotes of a specification for _arguments or
/// _describe, where brackets and colons have a meaning.
static std::string forZsh(StringRef Text) {
  std::string Result;
  for (char C : Text) {
    if (C == '\'') {
      Result += "'\\''";
      continue;
    }
    if (StringRef("[]:\\").contains(C))
      Result += '\\';
    Result += C;
  }
  return Result;
}

static std::string valueAction(const OptionText &O) {
  if (!O.Choices.empty()) {
    std::vector<StringRef> Names;
    Names.reserve(O.Choices.size());
    for (const Entry &E : O.Choices)
      Names.push_back(E.Name);
    return "(" + join(Names, " ") + ")";
  }
  if (O.Value == "FILE" || O.Value == "PATH")
    return "_files";
  return O.Value == "DIR" ? "_files -/" : " ";
}

/// One argument of _arguments per spelling:
/// '(-o --output)-o+[Write the trace to FILE]:FILE:_files'.
static void printZshOption(raw_ostream &Out, const OptionText &O) {
  const std::vector<std::string> Spellings = O.spellings();
  for (const std::string &Spelling : Spellings) {
    Out << " \\\n      '";
    if (O.Repeats)
      Out << '*';
    else
      Out << '(' << join(Spellings, " ") << ')';
    Out << Spelling;
    if (!O.Value.empty())
      Out << (Spelling.size() == 2 ? "+" : "=");
    Out << '[' << forZsh(O.Meaning) << ']';
    if (!O.Value.empty())
      Out << ':' << O.Value << ':' << valueAction(O);
    Out << '\'';
  }
}

static void printZshOperands(raw_ostream &Out, const CommandText &C) {
  switch (C.First) {
  case Operand::None:
    break;
  case Operand::Trace:
    Out << " \\\n      '1:trace:_files -g \"*.db\"' \\\n      '*:file:_files'";
    break;
  case Operand::Program:
    Out << " \\\n      '(-)1:program:_command_names -e'"
        << " \\\n      '*::argument:_normal'";
    break;
  case Operand::Word:
    Out << " \\\n      '1: :(" << join(C.Words, " ") << ")'";
    break;
  }
}

void printZshCompletion(raw_ostream &Out, const ProgramText &P) {
  Out << "#compdef chronicle\n"
         "# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
         "# Completes chronicle in zsh. Made by 'chronicle completion zsh'.\n\n"
         "_chronicle_commands() {\n  local -a commands=(\n";
  for (const CommandText &C : P.Commands)
    Out << "    '" << C.Name << ':' << forZsh(C.Summary) << "'\n";
  Out << "  )\n  _describe command commands\n}\n\n"
         "_chronicle() {\n"
         "  local curcontext=$curcontext state line\n"
         "  typeset -A opt_args\n"
         "  _arguments -C";
  for (const OptionText &O : P.Options)
    printZshOption(Out, O);
  Out << " \\\n      '1: :_chronicle_commands' \\\n"
         "      '*:: :->arguments'\n"
         "  [[ $state == arguments ]] || return\n"
         "  curcontext=${curcontext%:*:*}:chronicle-$words[1]:\n"
         "  case $words[1] in\n";
  for (const CommandText &C : P.Commands) {
    Out << "  " << C.Name << ")\n    _arguments -S";
    for (const OptionText &O : C.Options)
      printZshOption(Out, O);
    printZshOperands(Out, C);
    Out << " ;;\n";
  }
  Out << "  esac\n}\n\n"
         "# Either this file is a function that zsh loads, or it is sourced.\n"
         "if [[ $funcstack[1] == _chronicle ]]; then\n"
         "  _chronicle \"$@\"\nelse\n  compdef _chronicle chronicle\nfi\n";
}

} // namespace chronicle::manual
