# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs one file of gdb commands twice: on a trace, through `chronicle serve`, and on gdb's own
recording of the live program (`record full`). Both are stopped at the entry of the function
`finished`. Fails if gdb prints different answers.

The kernel and Valgrind put things at different addresses, so addresses are not compared."""
import argparse
import re

import debugger
import recording


def without_places(text):
    text = text.replace("Hardware watchpoint", "Watchpoint")
    # gdb numbers values, also those that functions returned before.
    text = re.sub(r"\$\d+ = ", "", text)
    text = re.sub(r"\bThread \d+(\.\d+)?", "Thread", text)
    return debugger.without_places(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trace", required=True)
    parser.add_argument("program")
    parser.add_argument("session")
    options = parser.parse_args()
    recording.record(options.trace, [options.program])
    commands = debugger.commands_of(options.session)
    found = debugger.served_gdb_answers(
        options.trace,
        options.program,
        ["tbreak main", "delete", "tbreak finished", "reverse-continue"],
        commands,
    )
    expected = debugger.gdb_answers(
        options.program,
        # The processor's watchpoints do not see what gdb replays.
        ["set can-use-hw-watchpoints 0", "tbreak main", "run", "record full"]
        + ["tbreak finished", "continue"],
        commands,
    )
    wrong = 0
    for command, one, other in zip(commands, expected, found):
        print("(gdb) %s\n%s" % (command, other), end="")
        text = debugger.difference(
            without_places(one), without_places(other), ("record full", "chronicle")
        )
        if text:
            wrong += 1
            print("WRONG: %s\n    %s" % (command, text))
    if wrong:
        debugger.fail("%d answers differ from those of gdb's own recording" % wrong)


if __name__ == "__main__":
    main()
