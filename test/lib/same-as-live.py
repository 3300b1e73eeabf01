# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs one file of LLDB commands on recorded runs and on the living program, both
stopped before their first instruction, and insists that LLDB says the same.

Addresses are where the kernel or Valgrind puts things, so they are compared only
by what they point to. In a session,
  trace: COMMAND    is only for the trace: a living process has no answer
  differs: COMMAND  is for both, and what they say need not be the same
  expect: REGEX     is what the trace's answer to the command before must have
Prints the trace's answers."""
import argparse
import difflib
import os
import re
import shlex
import subprocess
import sys

import lldb_session


class Session:
    """Commands for one or both kinds of process, and what is expected of them."""

    def __init__(self, lines):
        self.live, self.traced = [], []
        self.pairs = []  # indexes into both, of what must be the same
        self.expected = []  # index into traced, and a pattern
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
    """Lines without what depends on where things are and on who runs them."""
    # A trace does not know how threads are called.
    text = re.sub(r", name = '[^']*'", "", text)
    text = re.sub(r"\b(Process|pid =|tid =) ?(0x)?[0-9a-f]+", r"\1 ID", text)
    text = re.sub(r"\b0x0*[1-9a-f][0-9a-f]{4,11}\b", "ADDRESS", text)
    # The width of columns follows the addresses in them.
    lines = [re.sub(r"\s+", " ", line).strip() for line in text.splitlines()]
    return [line for line in lines if line]


def without_unknown(live, traced):
    """Lines of the trace, without the values that the living process had lost: the
    trace knows the registers that a call did not save."""
    lost = {}
    for line in live:
        name, _, value = line.partition(" = ")
        if re.match(r"<register \w+ is not available>", value):
            lost[name] = line
    return [lost.get(line.partition(" = ")[0], line) for line in traced]


def record(options, program):
    command = [options.chronicle, "record", "--quiet", "--force"]
    command += ["-o", options.trace, "--"] + program
    subprocess.run(command, stdout=subprocess.DEVNULL, timeout=lldb_session.TIMEOUT)
    if not os.path.exists(options.trace):
        lldb_session.fail("no trace was made")


def compare(options, session):
    """Records and runs both sessions; returns what is wrong."""
    record(options, options.program)
    # Without a terminal for the program: LLDB prints what comes from one when it
    # likes.
    launch = "process launch --stop-at-entry --no-stdio -- "
    launch += " ".join(options.program[1:])
    live_output = lldb_session.run(
        ["lldb-22", "-x", "--file", options.program[0]], [launch] + session.live
    )
    traced_output = lldb_session.run(
        [options.chronicle, "debug", options.trace, "-x"],
        ["chronicle goto start"] + session.traced,
    )
    live = lldb_session.answers(live_output, session.live)
    traced = lldb_session.answers(traced_output, session.traced)
    print(traced_output)
    if options.show:
        print(live_output)
    wrong = []
    for one, other in session.pairs:
        expected = without_places(live[one])
        difference = difflib.unified_diff(
            expected,
            without_unknown(expected, without_places(traced[other])),
            "live",
            "trace",
            lineterm="",
        )
        text = "\n    ".join(difference)
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
    parser.add_argument("--chronicle", required=True)
    parser.add_argument("--trace", required=True)
    parser.add_argument("--source", help="where @name@ in the session is found")
    parser.add_argument(
        "--build",
        action="append",
        default=[],
        help="a compiler and its flags; a whole comparison for each. Without any "
        "the program is there already",
    )
    parser.add_argument("--show", action="store_true", help="print the live answers")
    parser.add_argument("session")
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    lines = lldb_session.commands_of(options.session, options.source)
    failed = False
    for build in options.build or [None]:
        if build:
            print("=== build:", build)
            command = shlex.split(build) + ["-o", options.program[0], options.source]
            subprocess.run(command, check=True)
        for what in compare(options, Session(lines)):
            failed = True
            print("WRONG:", what)
    if failed:
        lldb_session.fail("not what a living process says")


if __name__ == "__main__":
    main()
