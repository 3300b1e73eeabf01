# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Completes chronicle's commands and options, which it reads from the program's
# help. For `chronicle record` it also completes the program and its arguments.

_chronicle_commands() {
  "$1" --help 2>/dev/null |
    sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p'
}

_chronicle_options() {
  "$1" "$2" --help 2>/dev/null |
    sed -n '/^Options:/,/^$/s/^  \(-[a-z-]*\)\(=\?\).*/\1\2/p'
}

# Prints the index in COMP_WORDS of the program to record, if there is one.
_chronicle_program_index() {
  local i
  for ((i = 2; i < COMP_CWORD; i++)); do
    case "${COMP_WORDS[i]}" in
      --) echo $((i + 1)); return ;;
      -o | --o) ((i++)) ;;
      --*)
        # Bash splits --option=value into three words.
        [[ "${COMP_WORDS[i + 1]}" == "=" ]] && ((i += 2)) ;;
      -*) ;;
      *) echo "$i"; return ;;
    esac
  done
}

_chronicle() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD - 1]}"
  local program="${COMP_WORDS[0]}" command="${COMP_WORDS[1]}"
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "$(_chronicle_commands "$program") help --help --version" -- "$current"))
    return
  fi
  if [[ "$command" == help ]]; then
    COMPREPLY=($(compgen -W "$(_chronicle_commands "$program")" -- "$current"))
    return
  fi
  if [[ "$command" == record ]]; then
    local at="$(_chronicle_program_index)"
    if [[ -n "$at" ]] && declare -F _command_offset >/dev/null; then
      _command_offset "$at"
      return
    fi
  fi
  local option="$previous"
  if [[ "$current" == "=" ]]; then
    current=""
  elif [[ "$previous" == "=" ]]; then
    option="${COMP_WORDS[COMP_CWORD - 2]}"
  fi
  case "$option" in
    --codec) COMPREPLY=($(compgen -W "zstd lz4 zlib none" -- "$current")); return ;;
    --log-loads) COMPREPLY=($(compgen -W "auto always never" -- "$current")); return ;;
    --summary | -o) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  if [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$(_chronicle_options "$program" "$command") --help" -- "$current"))
    [[ "${COMPREPLY[0]}" == *= ]] && compopt -o nospace 2>/dev/null
  elif [[ "$command" == record ]]; then
    COMPREPLY=($(compgen -c -f -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _chronicle chronicle
