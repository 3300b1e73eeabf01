#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tells story.txt: compiles the chat server, records it, and walks from its crash to the cause.

On a terminal Enter goes on, and q leaves the reader in LLDB at that point of the story. Without
a terminal it prints the whole transcript."""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
PROMPT = "(lldb) "
DEBUG = "chronicle debug "
SETTINGS = ["settings set use-color false", "settings set interpreter.prompt-on-quit false"]


class Step:
    """A command, what is said before it, and what its output must match."""

    def __init__(self, said, command):
        self.said = said
        self.in_lldb = command.startswith(PROMPT)
        self.command = command[len(PROMPT) if self.in_lldb else len("$ ") :]
        self.shown = command
        self.expected = []


def read_story(path):
    """The steps, and the words after the last one."""
    steps, said = [], []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        if line.startswith(("$ ", PROMPT)):
            steps.append(Step("\n".join(said).strip(), line))
            said = []
        elif line.startswith("~ "):
            steps[-1].expected.append(line[2:])
        else:
            said.append(line)
    for step in steps:
        if not step.expected:
            sys.exit("story: nothing is expected of '%s'" % step.command)
    return steps, "\n".join(said).strip()


class Teller:
    """Runs the steps in a folder, with the chronicle program of a build."""

    def __init__(self, folder, program, steps):
        self.folder = folder
        self.program = program
        self.steps = steps
        self.environment = dict(os.environ, LC_ALL="C.UTF-8")
        self.answers = {}
        self.seconds = {}

    def output(self, words, name):
        start = time.monotonic()
        done = subprocess.run(
            words,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.seconds[name] = time.monotonic() - start
        return done.stdout.decode(errors="replace")

    def answer(self, step):
        """What the step prints."""
        if step not in self.answers:
            if step.in_lldb or step.command.startswith(DEBUG):
                self.run_lldb()
            else:
                words = [self.program] + step.command.split()[1:]
                self.answers[step] = self.output(words, "record")
        return self.answers[step]

    def lldb_words(self, commands):
        """How LLDB is started on the trace, and the file that has the commands for it."""
        file = self.folder.resolve() / "told.lldb"
        file.write_text("\n".join(commands) + "\n")
        trace = next(s.command for s in self.steps if s.command.startswith(DEBUG)).split()[-1]
        return [self.program, "debug", trace], str(file)

    def run_lldb(self):
        """Runs all steps in LLDB at once; that is a second. LLDB waits for each to end."""
        steps = [s for s in self.steps if s.in_lldb]
        words, file = self.lldb_words([s.command for s in steps] + ["quit"])
        for setting in SETTINGS:
            words += ["-O", setting]
        text = self.output(words + ["-x", "-s", file], "story")
        opening = next(s for s in self.steps if s.command.startswith(DEBUG))
        # LLDB echoes the command that loads the trace, and the one that reads the file.
        at = re.search(r"^\(lldb\) chronicle load .*\n", text, re.M)
        current, start = opening, at.end() if at else 0
        for step in steps:
            echo = PROMPT + step.command + "\n"
            end = text.find(echo, start)
            if end < 0:
                sys.exit("story: LLDB did not get to '%s':\n%s" % (step.command, text))
            self.answers[current] = text[start:end]
            current, start = step, end + len(echo)
        self.answers[current] = text[start : text.rfind(PROMPT + "quit")]
        source = r"^\(lldb\) command source .*\nExecuting commands in .*\n"
        self.answers[opening] = re.sub(source, "", self.answers[opening], flags=re.M)

    def stay(self, told):
        """Becomes LLDB, where the steps that were told have been made."""
        commands = [s.command for s in told if s.in_lldb]
        words, file = self.lldb_words(commands)
        if commands:
            words += ["-o", 'command source -s true "%s"' % file]
        os.chdir(self.folder)
        os.execv(self.program, words)


def check(steps, teller):
    """Exits with an error if a step does not print what the story expects."""
    for step in steps:
        for pattern in step.expected:
            if not re.search(pattern, teller.answer(step)):
                sys.exit(
                    "story: '%s' should print what matches '%s', but prints\n%s"
                    % (step.command, pattern, teller.answer(step))
                )


def tell(steps, end, teller, terminal):
    bold, dim, plain = ("\033[1m", "\033[36m", "\033[0m") if terminal else ("", "", "")
    for number, step in enumerate(steps):
        if step.said:
            print("\n" + dim + step.said + plain + "\n")
        print(bold + step.shown + plain, end="", flush=True)
        if terminal and not goes_on():
            if any(s.command.startswith(DEBUG) for s in steps[:number]):
                teller.stay(steps[:number])
            return False
        if not terminal:
            print()
        print(teller.answer(step), end="", flush=True)
    print("\n" + dim + end + plain)
    return True


def goes_on():
    """Whether the reader presses Enter; q, Ctrl-C and the end of the input stop the story."""
    try:
        print("   \033[2m[Enter: do it, q: stay here]\033[0m", end=" ", flush=True)
        answer = sys.stdin.readline()
    except KeyboardInterrupt:
        answer = ""
    return answer.endswith("\n") and answer.strip() != "q"


def compile_program(folder):
    """Compiles the chat server, as its author would while looking for a bug."""
    sources = sorted(str(path) for path in (HERE / "gateway").glob("*.cpp"))
    subprocess.run(["g++", "-g", "-O0", "-o", str(folder / "gateway")] + sources, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=pathlib.Path, help="the chronicle program")
    parser.add_argument("folder", type=pathlib.Path, help="where program and trace are put")
    parser.add_argument("--check", action="store_true", help="check every step's output")
    parser.add_argument("--record-only", action="store_true", help="record, and tell nothing")
    parser.add_argument(
        "--took",
        action="append",
        default=[],
        metavar="WHAT=SECONDS",
        help="what was done before, for the table at the end",
    )
    arguments = parser.parse_args()
    steps, end = read_story(HERE / "story.txt")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    compile_program(arguments.folder)
    compiled = time.monotonic() - start
    teller = Teller(arguments.folder, str(arguments.program.resolve()), steps)
    if arguments.record_only:
        print(teller.answer(steps[0]), end="")
        return
    if arguments.check:
        check(steps, teller)
    terminal = sys.stdin.isatty() and sys.stdout.isatty() and not arguments.check
    if not tell(steps, end, teller, terminal):
        print("\nGo on with: %s debug %s" % (arguments.program, arguments.folder / "gateway.db"))
    took = [(what, float(n)) for what, _, n in (t.partition("=") for t in arguments.took)]
    took += [("compiling the chat server", compiled)]
    took += [("recording it", teller.seconds.get("record", 0))]
    took += [("all questions in LLDB", teller.seconds.get("story", 0))]
    if not arguments.check:
        print("\nWhat took how long:")
        for what, seconds in took + [("together", sum(n for _, n in took))]:
            print("  %-28s %7.1f s" % (what, seconds))


if __name__ == "__main__":
    main()
