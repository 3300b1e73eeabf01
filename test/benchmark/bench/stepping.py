# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures steps in LLDB on a terminal, from the key to the next prompt: backward in a trace, forward live."""
import contextlib
import os
import pty
import re
import select
import time

from .process import BenchError, progress, started
from .recording import record
from .workloads import Map

PROMPT = b"(lldb) "
# Terminal escape sequences and carriage returns.
NOISE = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\r")
TIMEOUT = 120
# A stop and the prompt may come in either order, and a stop has several lines. An answer is complete when
# nothing more comes for this many seconds; its time is that of its last byte.
SILENCE = 0.25


class Debugger:
    """LLDB on a terminal, with one command at a time, as a user types them."""

    def __init__(self, terminal, starts_stopped):
        self.terminal = terminal
        self.answer("start", lambda said: PROMPT in said and (b"stop reason = " in said or not starts_stopped))

    def answer(self, what, complete):
        """Reads until complete(output) is true and LLDB is silent. Returns the output and the time of its last byte."""
        said, last = b"", None
        end = time.monotonic() + TIMEOUT
        while True:
            done = complete(said)
            ready, _, _ = select.select([self.terminal], [], [], SILENCE if done else max(0, end - time.monotonic()))
            if not ready and done:
                return said, last
            try:
                if not ready:
                    raise OSError
                said = NOISE.sub(b"", said + os.read(self.terminal, 65536))
            except OSError:
                raise BenchError("LLDB did not answer '%s': %s" % (what, said[-500:].decode(errors="replace")))
            last = time.monotonic()

    def command(self, text, stops):
        """Types a command. Returns the seconds to the end of its answer, which is the prompt and, if the command
        moves the process, the stop."""
        echo = text.encode() + b"\n"

        def complete(said):
            rest = said.partition(echo)[2]
            return PROMPT in rest and (not stops or b"stop reason = " in rest or b"error:" in rest)

        begin = time.monotonic()
        os.write(self.terminal, echo)
        said, last = self.answer(text, complete)
        if b"error:" in said:
            raise BenchError("LLDB answered '%s' with %s" % (text, said[said.find(b"error:") :].decode().splitlines()[0]))
        return last - begin


class Terminal:
    """Runs a debugger in a pseudo terminal, and ends it at the end of the block."""

    def __init__(self, command, starts_stopped):
        self.command, self.starts_stopped = command, starts_stopped

    def __enter__(self):
        self.ours, theirs = pty.openpty()
        environment = dict(os.environ, TERM="dumb", COLUMNS="200", LINES="50")
        options = {"stdin": theirs, "stdout": theirs, "stderr": theirs, "env": environment}
        self.context = started(self.command, **options)
        self.context.__enter__()
        os.close(theirs)
        try:
            return Debugger(self.ours, self.starts_stopped)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *failure):
        self.context.__exit__(None, None, None)
        os.close(self.ours)


# Name, backward command, forward command, and whether each step starts from a breakpoint.
STEPS = [
    ("reverse-next", "chronicle reverse-next", "thread step-over", False),
    ("reverse-step", "chronicle reverse-step", "thread step-in", False),
    ("reverse-finish", "chronicle reverse-finish", "thread step-out", True),
]
BREAKPOINT = "breakpoint set --name Shop::sell"


class Walker:
    """Steps in one debugger, starting at a breakpoint."""

    def __init__(self, label, debugger, go_on, commands):
        self.label, self.debugger, self.go_on = label, debugger, go_on
        self.commands = commands  # one per entry of STEPS
        for text in ("settings set use-color false", "settings set auto-confirm true", BREAKPOINT):
            debugger.command(text, stops=False)

    def step(self, kind, from_breakpoint):
        """Makes one step; returns its time in seconds."""
        if from_breakpoint:
            self.debugger.command(self.go_on, stops=True)
        return self.debugger.command(self.commands[kind], stops=True)


def collect(measures, walkers, count):
    """Adds the times of all kinds of steps as 'step/<label>/<kind>'. The walkers take turns."""
    for kind, (name, _, _, again) in enumerate(STEPS):
        values = {walker.label: [] for walker in walkers}
        try:
            for number in range(count):
                for walker in walkers:
                    values[walker.label].append(walker.step(kind, again or number == 0) * 1e3)
        except BenchError as error:
            progress("%s was not measured: %s" % (name, error))
            continue
        for label, times in values.items():
            measures.add_many("step/%s/%s" % (label, name), times, "ms")


def live_walker(stack, setting, binary, amount):
    lldb = [setting.lldb, "--no-lldbinit", "--no-use-colors"]
    debugger = stack.enter_context(Terminal([*lldb, "--", binary, amount], False))
    walker = Walker("live", debugger, "process continue", [forward for _, _, forward, _ in STEPS])
    debugger.command("process launch", stops=True)
    return walker


def trace_walker(stack, setting, label, recording):
    command = [setting.chronicle, "debug", recording.trace, "--no-lldbinit", "--no-use-colors"]
    debugger = stack.enter_context(Terminal(command, True))
    walker = Walker(label, debugger, "process continue --reverse", [backward for _, backward, _, _ in STEPS])
    debugger.command("chronicle goto %d" % (recording.instructions // 2), stops=True)
    return walker


def measure(setting, measures):
    """Compares a live process, a trace of about 20 M instructions and one ten times as long. They step in turn, so
    that other load of the machine affects all of them."""
    workload = Map()
    binary = workload.build(setting.place, ["-std=c++17", "-O0"], "-steps")
    short = min(setting.instructions, 20e6)
    lengths = [("trace", short)] + ([("trace-10x", short * 10)] if setting.wants("length") else [])
    with contextlib.ExitStack() as stack:
        walkers = [live_walker(stack, setting, binary, workload.amount(short))]
        for label, instructions in lengths:
            # Unoptimised, it runs about twice as many instructions.
            _, recording = record(setting, [binary, max(100, workload.amount(instructions / 2))], "steps-" + label)
            stack.callback(recording.trace.unlink)
            progress("steps backward in a trace of %.0f M instructions" % (recording.instructions / 1e6))
            walkers.append(trace_walker(stack, setting, label, recording))
        for _ in range(setting.repeat):
            collect(measures, walkers, max(1, setting.steps // setting.repeat))
