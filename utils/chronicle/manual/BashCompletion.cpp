// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/manual/Completion.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace chronicle::manual {

/// The part that is the same for all commands. The functions that it calls are
/// tables: _chronicle_options COMMAND, _chronicle_value COMMAND OPTION and
/// _chronicle_operand COMMAND.
static constexpr StringLiteral Script = R"bash(
# Sets COMPREPLY to what starts with $2. $1 is FILE, DIR, TRACE, PROGRAM, '-' for
# text that cannot be completed, or a list of words.
_chronicle_reply() {
  case $1 in
  -) ;;
  FILE)
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
  DIR)
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
  TRACE)
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -X '!*.db' -- "$2"; compgen -d -- "$2")
    [[ ${#COMPREPLY[@]} != 0 ]] || mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
  PROGRAM)
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -c -- "$2"; compgen -d -- "$2") ;;
  *)
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2") ;;
  esac
}

_chronicle() {
  local current=${COMP_WORDS[COMP_CWORD]} command= operands=0 wanted= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
    --)
      [[ $(_chronicle_operand "$command") == PROGRAM ]] && ((i + 1 < COMP_CWORD)) && break ;;
    -*)
      # Bash splits --option=value into three words.
      if wanted=$(_chronicle_value "$command" "${COMP_WORDS[i]}"); then
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
      fi ;;
    *)
      if [[ -z $command ]]; then
        command=${COMP_WORDS[i]}
      else
        [[ $(_chronicle_operand "$command") == PROGRAM ]] && break
        ((operands++))
      fi ;;
    esac
  done
  [[ ${COMP_WORDS[i]} == -- ]] && ((i < COMP_CWORD)) && ((i++))
  if ((i < COMP_CWORD)); then
    # The arguments of the program that is recorded.
    if declare -F _command_offset >/dev/null; then
      _command_offset "$i"
    else
      _chronicle_reply FILE "$current"
    fi
  elif ((i > COMP_CWORD)) || [[ $current == = ]]; then
    _chronicle_reply "$wanted" "${current#=}"
  elif [[ $current == -* ]]; then
    _chronicle_reply "$(_chronicle_options "$command")" "$current"
  elif [[ $command && $operands != 0 ]]; then
    _chronicle_reply FILE "$current"
  else
    _chronicle_reply "$(_chronicle_operand "$command")" "$current"
  fi
}
complete -F _chronicle chronicle
)bash";

/// What completes the value of an option: the first argument of
/// _chronicle_reply.
static std::string valueKind(const OptionText &O) {
  if (!O.Choices.empty())
    return join(map_range(O.Choices, [](const Entry &E) { return E.Name; }),
                " ");
  if (O.Value == "FILE" || O.Value == "PATH")
    return "FILE";
  return O.Value == "DIR" ? "DIR" : "-";
}

static std::string operandKind(const CommandText &C) {
  switch (C.First) {
  case Operand::None:
    return "-";
  case Operand::Trace:
    return "TRACE";
  case Operand::Program:
    return "PROGRAM";
  case Operand::Word:
    return join(C.Words, " ");
  }
  return "-";
}

static void printBashOptions(raw_ostream &Out, StringRef Command,
                             ArrayRef<OptionText> Options) {
  std::vector<std::string> Words;
  for (const OptionText &O : Options)
    llvm::append_range(Words, O.spellings());
  Out << "  '" << Command << "') echo '" << join(Words, " ") << "' ;;\n";
}

static void printBashValues(raw_ostream &Out, StringRef Command,
                            ArrayRef<OptionText> Options) {
  for (const OptionText &O : Options) {
    if (O.Value.empty())
      continue;
    Out << "  ";
    ListSeparator Or(" | ");
    for (const std::string &Spelling : O.spellings())
      Out << Or << Command << ':' << Spelling;
    Out << ") echo '" << valueKind(O) << "' ;;\n";
  }
}

void printBashCompletion(raw_ostream &Out, const ProgramText &P) {
  Out << "# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
         "# Completes chronicle in bash. Made by 'chronicle completion "
         "bash'.\n\n"
         "_chronicle_options() {\n  case $1 in\n";
  printBashOptions(Out, "", P.Options);
  for (const CommandText &C : P.Commands)
    printBashOptions(Out, C.Name, C.Options);
  Out << "  esac\n}\n\n"
         "# Fails if the option takes no value.\n"
         "_chronicle_value() {\n  case $1:$2 in\n";
  printBashValues(Out, "", P.Options);
  for (const CommandText &C : P.Commands)
    printBashValues(Out, C.Name, C.Options);
  Out << "  *) return 1 ;;\n  esac\n}\n\n"
         "_chronicle_operand() {\n  case $1 in\n  '') echo '";
  ListSeparator Space(" ");
  for (const CommandText &C : P.Commands)
    Out << Space << C.Name;
  Out << "' ;;\n";
  for (const CommandText &C : P.Commands)
    Out << "  " << C.Name << ") echo '" << operandKind(C) << "' ;;\n";
  Out << "  *) echo - ;;\n  esac\n}\n" << Script;
}

} // namespace chronicle::manual
