# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps in LLDB on a terminal, from the key to the next prompt: backward in a trace, forward live."""
import os
import pty
import re
import select
import time

from .process import BenchError, progress, started
from .recording import record
from .workloads import Map

PROMPT = b"(lldb) "
# An escape sequence of a terminal, and a carriage return.
NOISE = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\r")
TIMEOUT = 120
# A stop and the prompt may come in either order, and a stop has several lines: all of an answer has
# come when nothing more does for this long. It ends with its last byte.
SILENCE = 0.25


class Debugger:
    """LLDB as somebody uses it: on a terminal, one command at a time."""

    def __init__(self, terminal, starts_stopped):
        self.terminal = terminal
        self.answer("start", lambda said: PROMPT in said and (b"stop reason = " in said or not starts_stopped))

    def answer(self, what, complete):
        """All that is said until complete(it) is true and LLDB falls silent; and when its last byte came."""
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
                raise BenchError("LLDB gave no answer to '%s': %s" % (what, said[-500:].decode(errors="replace")))
            last = time.monotonic()

    def command(self, text, stops):
        """Types a command; returns the seconds to the end of its answer: the prompt, and if it stops the
        process, where."""
        echo = text.encode() + b"\n"

        def complete(said):
            rest = said.partition(echo)[2]
            return PROMPT in rest and (not stops or b"stop reason = " in rest or b"error:" in rest)

        begin = time.monotonic()
        os.write(self.terminal, echo)
        said, last = self.answer(text, complete)
        if b"error:" in said:
            raise BenchError("LLDB said to '%s': %s" % (text, said[said.find(b"error:") :].decode().splitlines()[0]))
        return last - begin


class Terminal:
    """A debugger in a pseudo terminal, ended on the way out."""

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


def times(debugger, prepare, step, count):
    """Seconds of each of count steps; prepare goes where they may begin."""
    for text in prepare:
        debugger.command(text, stops=True)
    return [debugger.command(step, stops=True) for _ in range(count)]


# What is compared: name, backward, forward, and whether each one starts from a breakpoint.
STEPS = [
    ("reverse-next", "chronicle reverse-next", "thread step-over", False),
    ("reverse-step", "chronicle reverse-step", "thread step-in", False),
    ("reverse-finish", "chronicle reverse-finish", "thread step-out", True),
]
BREAKPOINT = "breakpoint set --name Shop::sell"


def collect(measures, label, debugger, go_on, commands, count):
    """The times of all kinds of steps under 'step/<label>/<kind>'."""
    for (name, _, _, again), step in zip(STEPS, commands):
        try:
            if again:
                values = [value for _ in range(count) for value in times(debugger, [go_on], step, 1)]
            else:
                values = times(debugger, [go_on], step, count)
        except BenchError as error:
            progress("%s was not measured: %s" % (name, error))
            continue
        for value in values:
            measures.add("step/%s/%s" % (label, name), value * 1e3, "ms")


def measure(setting, measures):
    """Live first, then a trace of about 20 M instructions, then one ten times as long."""
    workload = Map()
    binary = workload.build(setting.place, ["-std=c++17", "-O0"], "-steps")
    count = setting.steps
    short = min(setting.instructions, 20e6)
    lengths = [("", short)] + ([("-10x", short * 10)] if setting.wants("length") else [])
    settings = ["settings set use-color false", "settings set auto-confirm true"]
    lldb = [setting.lldb, "--no-lldbinit", "--no-use-colors"]
    progress("steps forward in live LLDB")
    with Terminal([*lldb, "--", binary, workload.amount(short)], False) as debugger:
        for text in [*settings, BREAKPOINT]:
            debugger.command(text, stops=False)
        debugger.command("process launch", stops=True)
        collect(measures, "live", debugger, "process continue", [forward for _, _, forward, _ in STEPS], count)
    for suffix, instructions in lengths:
        # Unoptimised it runs about twice the instructions.
        _, recording = record(setting, [binary, max(100, workload.amount(instructions / 2))], "steps")
        progress("steps backward in a trace of %.0f M instructions" % (recording.instructions / 1e6))
        opened = [setting.chronicle, "debug", recording.trace, "--no-lldbinit", "--no-use-colors"]
        with Terminal(opened, True) as debugger:
            for text in [*settings, BREAKPOINT]:
                debugger.command(text, stops=False)
            debugger.command("chronicle goto %d" % (recording.instructions // 2), stops=True)
            backward = [command for _, command, _, _ in STEPS]
            collect(measures, "trace" + suffix, debugger, "process continue --reverse", backward, count)
        recording.trace.unlink()
