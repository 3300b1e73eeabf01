# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs one file of LLDB commands on a recorded run and on the live program, both stopped before
their first instruction, and fails if LLDB prints different answers.

The kernel and Valgrind put things at different addresses, so addresses are not compared. In a
session,
  trace: COMMAND    runs on the trace only, because a live process cannot answer it
  differs: COMMAND  runs on both, but the answers may differ
  expect: REGEX     must match the trace's answer to the command before it
Prints the trace's answers."""
import argparse
import re

import debugger
import recording


class Session:
    """The commands for the live program and for the trace, and what their answers must be."""

    def __init__(self, lines):
        self.live, self.traced = [], []
        self.pairs = []  # indexes into live and traced of answers that must be the same
        self.expected = []  # indexes into traced and patterns
        for line in lines:
            kind, colon, rest = line.partition(": ")
            if colon and kind == "expect":
                self.expected.append((len(self.traced) - 1, rest))
                continue
            if colon and kind in ("trace", "differs"):
                line = rest
            else:
                self.pairs.append((len(self.live), len(self.traced)))
            self.traced.append(line)
            if kind != "trace":
                self.live.append(line)


def without_places(text):
    """The lines of an answer without what differs from one process to another."""
    # A trace does not know the names of threads.
    text = re.sub(r", name = '[^']*'", "", text)
    text = re.sub(r"\b(Process|pid =|tid =) ?(0x)?[0-9a-f]+", r"\1 ID", text)
    return [line for line in debugger.without_places(text) if line]


def without_unknown(live, traced):
    """The lines of the trace without the values that the live process could not show: only the
    trace knows registers that a call did not save, and registers at the entry of a function."""
    lost = {}
    for line in live:
        name, _, value = line.partition(" = ")
        if re.match(r"<register \w+ is not available>|<could not evaluate DW_OP_entry_value", value):
            lost[name] = line
    traced = [lost.get(line.partition(" = ")[0], line) for line in traced]
    # In frames such parameters are "<unavailable>".
    for number, (there, here) in enumerate(zip(live, traced)):
        pattern = re.escape(there).replace(re.escape("=<unavailable>"), "=.+?")
        if re.fullmatch(pattern, here):
            traced[number] = there
    return traced


def compare(options, session):
    """Records the program and runs both sessions; returns what is wrong."""
    program, *arguments = options.program
    recording.record(options.trace, options.program)
    # The program has no terminal: LLDB prints what comes from one at any time.
    launch = "process launch --stop-at-entry --no-stdio -- " + " ".join(arguments)
    live, live_output = debugger.lldb_answers(
        debugger.on_program(program), [launch] + session.live
    )
    traced, traced_output = debugger.lldb_answers(
        debugger.on_trace(options.trace), ["chronicle goto start"] + session.traced
    )
    live, traced = live[1:], traced[1:]
    print(traced_output)
    if options.show:
        print(live_output)
    wrong = []
    for one, other in session.pairs:
        expected = without_places(live[one])
        found = without_unknown(expected, without_places(traced[other]))
        text = debugger.difference(expected, found, ("live", "trace"))
        if text:
            wrong.append("%s\n    %s" % (session.live[one], text))
    for index, pattern in session.expected:
        if not re.search(pattern, traced[index]):
            wrong.append(
                "%s\n    lacks %s:\n%s" % (session.traced[index], pattern, traced[index])
            )
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trace", required=True)
    parser.add_argument("--source", help="what --build compiles")
    parser.add_argument(
        "--build",
        action="append",
        default=[],
        help="a compiler and its flags; there is one comparison per build (default: the "
        "program exists already)",
    )
    parser.add_argument("--show", action="store_true", help="print the live answers")
    parser.add_argument("session")
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    lines = debugger.commands_of(options.session)
    failed = False
    for build in options.build or [None]:
        if build:
            print("=== build:", build)
            debugger.build(build, options.program[0], options.source)
        for what in compare(options, Session(lines)):
            failed = True
            print("WRONG:", what)
    if failed:
        debugger.fail("a live process answers differently")


if __name__ == "__main__":
    main()
