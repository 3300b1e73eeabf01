# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the sessions of a document and compares what they print with what the document shows.

    documents.py DOCUMENT [--programs DIRECTORY] [--trace TRACE] [--section NAME] [--update]

A session is made of indented lines: "$ command" for the shell, "(lldb) command" for LLDB, and below
each what it prints. All sessions below one "## " heading share a new directory, which has copies
of the programs. "$ chronicle debug ..." starts LLDB; the "(lldb)" lines that follow are typed there.
With --trace, each block of "(lldb)" lines that no "$ chronicle debug" precedes has an LLDB of its
own on that trace. A line "^C" below a shell command is typed when the program waits.

"…" stands for anything, a line of its own for any lines, and columns may be wider. Times (written
with thousands separators) and addresses are those of one run. In another run each may be another
number, but the same one wherever the document shows it, also in commands, and times keep their
order.

--update writes what was printed into the document. Of an answer that has "…" and is as expected,
only the numbers change. It runs everything twice: what differs between the two runs becomes "…"."""
import argparse
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

import debugger
from debugger import PROMPT

SHELL = "$ "
# As for a user, but a command may fail.
SETTINGS = ["settings set interpreter.stop-command-source-on-error false"]
# What differs from run to run: a time, or an address.
VARYING = re.compile(r"(?<![\w.,])(?:\d{1,3}(?:,\d{3})+|0x[0-9a-f]{5,})(?![\w,]*\d)")


class Command:
    """A line that is typed, and what it prints. Lines are numbered as in the document."""

    def __init__(self, text, line):
        self.prompt, self.text = re.match(r"( *(?:\$|\(lldb\)) )(.*)", text).groups()
        self.line = line
        self.expected = []
        self.answer = None
        self.is_new = False  # the expected lines are those of this run


class Session:
    """A shell command (`shell`) with the LLDB commands that follow it, if it starts LLDB."""

    def __init__(self, shell):
        self.shell = shell
        self.commands = []


def sections_of(path, trace):
    """Lists of (heading, sessions)."""
    sections = []
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    command = session = None
    for number, line in enumerate(lines):
        if line.startswith("## ") or not sections:
            sections.append((line.lstrip("# "), []))
            command = session = None
        if not line.startswith("    "):
            if line.strip():
                command = None
                if trace:
                    session = None
            continue
        text = line[4:].rstrip()
        if text.startswith(SHELL):
            command = Command(line.rstrip(), number)
            session = Session(command)
            sections[-1][1].append(session)
        elif text.startswith(PROMPT):
            command = Command(line.rstrip(), number)
            if not session:
                if not trace:
                    raise SystemExit("%s:%d: LLDB was not started" % (path, number + 1))
                session = Session(None)
                sections[-1][1].append(session)
            session.commands.append(command)
        elif command:
            command.expected.append(text)
    return lines, [(name, sessions) for name, sessions in sections if sessions]


class Numbers:
    """Which number of this run stands for which of the document. An address is the same with and
    without zeros at its front."""

    def __init__(self):
        self.here = {}

    @staticmethod
    def key(number):
        return hex(int(number, 16)) if number.startswith("0x") else number

    def add(self, document, here):
        document, here = self.key(document), self.key(here)
        if self.here.setdefault(document, here) != here:
            return "%s is %s first and %s later" % (document, self.here[document], here)
        return None

    def knows(self, text):
        """Whether all numbers of a command are known."""
        return all(self.key(number) in self.here for number in VARYING.findall(text))

    def disorder(self):
        times = [
            tuple(int(each.replace(",", "")) for each in pair)
            for pair in self.here.items()
            if not any(each.startswith("0x") for each in pair)
        ]
        for (_, before), (name, after) in zip(sorted(times), sorted(times)[1:]):
            if before > after:
                return "the time %d comes too early" % name
        return None

    def translate(self, text):
        def translated(found):
            number = found[0]
            here = self.here.get(self.key(number), number)
            if number.startswith("0x0"):
                here = "0x" + here[2:].lstrip("0").zfill(len(number) - 2)
            return here

        return VARYING.sub(translated, text)


def pattern(lines):
    """A regular expression for an answer, and the numbers that its groups stand for."""
    parts, numbers = [], []

    def literal(text):
        at, made = 0, ""
        for found in VARYING.finditer(text):
            numbers.append(found[0])
            made += re.escape(text[at : found.start()])
            made += r"(0x[0-9a-f]+)" if found[0].startswith("0x") else r"([\d,]+)"
            at = found.end()
        return made + re.escape(text[at:])

    for line in lines:
        if line.strip() == "…":
            parts.append(r"(?:.*\n)*?")
        else:
            words = [r"[^\n]*?".join(map(literal, word.split("…"))) for word in line.split()]
            # Columns are as wide as they need to be.
            parts.append(r"[ \t]*" + r"[ \t]+".join(words) + r"[ \t]*\n")
    return "".join(parts), numbers


def difference(command, numbers):
    """Why the answer is not the expected one; None if it is. Learns its numbers."""
    text, names = pattern(command.expected)
    found = re.fullmatch(text, command.answer)
    if not found:
        return "another text"
    for name, here in zip(names, found.groups()):
        wrong = numbers.add(name, here)
        if wrong:
            return wrong
    return numbers.disorder()


def cleaned(answer):
    """An answer as a document shows it: no spaces at the ends of lines, no empty lines around it."""
    lines = [line.expandtabs().rstrip() for line in answer.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return "".join(line + "\n" for line in lines)


def is_waiting(group):
    """Whether no process of the group has used the processor during the last second."""

    def used():
        total = 0
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/stat" % process) as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[2]) == group:
                total += int(fields[11]) + int(fields[12])
        return total

    before = used()
    time.sleep(1)
    return used() == before


def run_shell(command, expected, directory):
    """What a shell command prints on both streams. Ctrl-C is typed where it is expected."""
    # lit ignores Ctrl-C, and so would the command.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    until = expected.index("^C") if "^C" in expected else None
    with tempfile.TemporaryFile() as output, subprocess.Popen(
        ["bash", "-c", command],
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:

        def printed():
            return os.pread(output.fileno(), 1 << 24, 0).decode(errors="replace")

        end = time.monotonic() + debugger.TIMEOUT
        typed = 0
        while process.poll() is None:
            if time.monotonic() > end:
                os.killpg(process.pid, signal.SIGKILL)
                debugger.fail("'%s' did not end" % command, printed())
            if until is not None and not typed:
                reached = len(printed().splitlines()) >= until
                if reached and is_waiting(process.pid):
                    typed = len(printed())
                    os.killpg(process.pid, signal.SIGINT)
            time.sleep(0.05)
        text = printed()
    if until is not None:
        text = text[:typed] + "^C\n" + text[typed:]
    # As an interactive shell says it.
    if process.returncode < 0 and -process.returncode != signal.SIGINT:
        text += signal.strsignal(-process.returncode) + "\n"
    return text


def run_lldb(session, directory, trace, numbers, check):
    """Types the commands. A command that names a number of an earlier answer can be typed only
    after that answer was compared, so LLDB may be started several times."""
    start = debugger.on_trace(trace)
    if session.shell:
        # -x: without the user's own settings.
        start = shlex.split(numbers.translate(session.shell.text)) + ["-x"]
    done = 0
    while True:
        count = done + 1
        while count < len(session.commands) and numbers.knows(session.commands[count].text):
            count += 1
        typed = [numbers.translate(each.text) for each in session.commands[:count]]
        answers, output = debugger.lldb_answers(start, typed, SETTINGS, directory)
        if session.shell and not done:
            opening = output.partition(PROMPT + "command source")[0]
            lines = [line for line in opening.splitlines() if not line.startswith(PROMPT)]
            session.shell.answer = cleaned("\n".join(lines))
            check(session.shell)
        for command, answer in list(zip(session.commands, answers))[done:]:
            command.answer = cleaned(answer)
            check(command)
        done = count
        if done >= len(session.commands):
            return


def run_section(sessions, programs, trace, check, numbers):
    with tempfile.TemporaryDirectory() as directory:
        if programs:
            shutil.copytree(programs, directory, dirs_exist_ok=True)
        for session in sessions:
            if session.commands:
                run_lldb(session, directory, trace, numbers, check)
                continue
            shell = session.shell
            shell.answer = cleaned(
                run_shell(numbers.translate(shell.text), shell.expected, directory)
            )
            check(shell)


def expect(document, section, numbers):
    """A check that fails if an answer differs."""

    def check(command):
        why = difference(command, numbers)
        if why:
            debugger.fail(
                "%s:%d: '%s' (section %s) should print\n%s\nbut prints (%s)\n%s"
                % (
                    document,
                    command.line + 1,
                    command.text,
                    section,
                    "\n".join(command.expected),
                    why,
                    command.answer,
                )
            )

    return check


def adopt(numbers):
    """A check that takes over what was printed."""

    def check(command):
        if difference(command, numbers):
            # A command further down may name a number of this answer.
            before = VARYING.findall("\n".join(command.expected))
            now = VARYING.findall(command.answer)
            for pair in zip(before, now) if len(before) == len(now) else ():
                numbers.add(*pair)
        elif "…" in "".join(command.expected):
            return
        command.expected = command.answer.splitlines()
        command.is_new = True

    return check


def take_over(commands, numbers):
    """Makes the numbers of this run those of the document."""
    for command in commands:
        command.text = numbers.translate(command.text)
        if not command.is_new:
            command.expected = [numbers.translate(line) for line in command.expected]


def settle(numbers):
    """A check after `adopt`, in a second run: what differs from the first one becomes "…"."""

    def common(first, second):
        tokens = [re.findall(r"[\w.]+(?:,\d+)*|.", word) for word in (first, second)]
        if len(tokens[0]) != len(tokens[1]):
            return "…"
        return "".join(
            one if one == other or all(map(VARYING.fullmatch, (one, other))) else "…"
            for one, other in zip(*tokens)
        )

    def check(command):
        if not difference(command, numbers):
            return
        lines = []
        for first, second in zip(command.expected, command.answer.splitlines()):
            pieces = [re.split(r"( +)", line) for line in (first, second)]
            fits = len(pieces[0]) == len(pieces[1])
            words = [
                one if one.isspace() or "…" in one else common(one, other)
                for one, other in zip(*pieces)
            ]
            lines.append("".join(words) if fits else first)
        command.expected = lines + command.expected[len(lines) :]

    return check


def rewrite(document, lines, changed):
    """Writes the commands, which had that many lines of answer, into the document."""
    result, at = [], 0
    for command, before in changed:
        result += lines[at : command.line] + [command.prompt + command.text]
        result += [("    " + line).rstrip() for line in command.expected]
        at = command.line + 1 + before
    with open(document, "w", encoding="utf-8") as file:
        file.write("\n".join(result + lines[at:]) + "\n")


def run(document, programs=None, trace=None, section=None, update=False):
    """Runs the sessions. Returns the commands that were typed."""
    lines, sections = sections_of(document, trace)
    typed, changed = [], []
    for name, sessions in sections:
        if section and section not in name:
            continue
        numbers = Numbers()
        commands = [
            command
            for session in sessions
            for command in ([session.shell] if session.shell else []) + session.commands
        ]
        sizes = [len(command.expected) for command in commands]
        check = adopt(numbers) if update else expect(document, name, numbers)
        run_section(sessions, programs, trace, check, numbers)
        if update:
            take_over(commands, numbers)
            numbers = Numbers()
            run_section(sessions, programs, trace, settle(numbers), numbers)
        typed += [command.text for command in commands]
        changed += zip(commands, sizes)
    if update:
        rewrite(document, lines, changed)
    return typed


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("document")
    parser.add_argument("--programs")
    parser.add_argument("--trace")
    parser.add_argument("--section")
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    count = len(run(**vars(arguments)))
    print("%d commands answered as documented" % count)
