# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""interrupts.py trace.db: ends runs that would take minutes, in a terminal. LLDB stops at
each of many hits of a breakpoint whose condition is false; whenever it is asked to end
that, it ends, and the prompt is there."""
import os
import shlex
import sys

from tmux_terminal import Terminal

trace = sys.argv[1]
settings = "settings set show-statusline false"
command = ["chronicle", "debug", os.path.abspath(trace), "-x", "-O", settings]
terminal = Terminal(shlex.join(command))


def enter(text):
    terminal.type("-l", text)
    terminal.type("Enter")


def now():
    """The moment, and no other comes after it."""
    terminal.clear()
    enter("chronicle now")
    return int(terminal.wait(r"^time (\d+) of ")[1])


try:
    terminal.wait(r"stop reason = ")
    terminal.prompt()
    enter("breakpoint set -n tick -c 'Number == -1'")
    terminal.wait(r"^Breakpoint 1: ")
    for place, run in [
        ("start", "process continue"),
        ("end", "process continue --reverse"),
        ("end", "chronicle reverse-next 1000"),
    ]:
        terminal.prompt()
        terminal.clear()
        enter("chronicle goto " + place)
        terminal.wait(r"stop reason = at time")
        terminal.prompt()
        before = now()
        terminal.prompt()
        terminal.clear()
        enter(run)
        terminal.wait(r"resuming")
        enter("process interrupt")
        terminal.wait(r"stop reason = signal SIGINT")
        terminal.prompt()
        after = now()
        assert (after > before) == (place == "start") or after == before, (before, after)
        terminal.prompt()
        assert now() == after
        print("%s: ended" % run)
finally:
    terminal.close()
