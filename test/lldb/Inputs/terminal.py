# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""terminal.py trace.db: a session in a terminal, by tmux: Tab, Enter and Ctrl-C."""
import os
import re
import shlex
import sys

from tmux_terminal import Terminal

trace = sys.argv[1]


def complete(terminal, typed, completed):
    terminal.clear()
    terminal.type("-l", typed)
    terminal.wait(re.escape(typed))
    terminal.type("Tab")
    terminal.wait(re.escape("(lldb) " + completed))
    print("completed:", completed)


def agree(trace, steps):
    """With LLDB's line at the bottom, which asks for frames whenever it likes: what each stop
    shows must be where the process is."""
    terminal = Terminal(shlex.join(["chronicle", "debug", os.path.abspath(trace), "-x"]))
    try:
        terminal.wait(r"stop reason = ")
        terminal.wait(r"^\(lldb\) *$")
        for step in range(1, steps + 1):
            terminal.type("-l", "chronicle reverse-next")
            terminal.type("Enter")
            # The first stop is that of the load.
            terminal.wait(r"(?s)(frame #0.*){%d}" % (step + 1))
            terminal.type("-l", "chronicle now")
            terminal.type("Enter")
            terminal.wait(r"(?s)(^time \d+ of .*){%d}" % step)
            shown = re.findall(r"frame #0: 0x0*([0-9a-f]+)", terminal.screen())
            now = re.findall(r"^time \d+ of .* pc 0x0*([0-9a-f]+)", terminal.screen(), re.M)
            assert len(shown) == step + 1 and len(now) == step, terminal.screen()
            assert shown[-1] == now[-1], terminal.screen()
        print("stops shown where they are:", steps)
    finally:
        terminal.close()


agree(trace, 6)

# From here on LLDB's own line at the bottom would be in the way.
settings = "settings set show-statusline false"
command = ["chronicle", "debug", os.path.abspath(trace), "-x", "-O", settings]
terminal = Terminal(shlex.join(command))
try:
    terminal.wait(r"stop reason = ")
    terminal.wait(r"^\(lldb\) *$")

    complete(terminal, "chronicle la", "chronicle last-")
    terminal.type("Tab")
    terminal.wait(r"last-exec")
    terminal.wait(r"last-write")
    complete(terminal, "chronicle last-w", "chronicle last-write ")
    complete(terminal, "chronicle calls rename_acc", "chronicle calls rename_account")
    terminal.clear()
    terminal.type("-l", "chronicle last-exec transfer")
    terminal.type("Enter")
    terminal.wait(r"stop reason = execution")
    complete(terminal, "chronicle writes Amo", "chronicle writes Amount")
    complete(terminal, "chronicle goto cr", "chronicle goto crash")
    complete(terminal, "chronicle writes --old", "chronicle writes --oldest-first")
    complete(terminal, "chronicle writes --to st", "chronicle writes --to start")
    complete(terminal, "process trace load /etc/host", "process trace load /etc/host")
    terminal.clear()
    terminal.type("-l", "chronicle bookmark finish the last moment")
    terminal.type("Enter")
    terminal.wait(r"^finish is time \d+")
    complete(terminal, "chronicle goto fin", "chronicle goto finish")

    # Enter goes on with the write before.
    terminal.clear()
    terminal.type("-l", "chronicle last-write Accounts[2].Balance")
    terminal.type("Enter")
    first = int(terminal.wait(r"stop reason = before the write at time (\d+)")[1])
    terminal.prompt()
    terminal.type("C-l")
    terminal.wait(r"\A\(lldb\) *\n")
    terminal.type("Enter")
    second = int(terminal.wait(r"stop reason = before the write at time (\d+)")[1])
    assert second < first, (first, second)
    print("Enter repeated")

    # Ctrl-C ends what would take minutes.
    for command in [
        "chronicle calls transfer --limit 1000000",
        "chronicle calls transfer --where 'Amount == 1000000'",
    ]:
        terminal.prompt()
        terminal.clear()
        terminal.type("-l", command)
        terminal.type("Enter")
        terminal.wait(re.escape(command))
        terminal.wait(r"^Interrupted: there may be more\.", press="C-c")
        terminal.prompt()
        print("interrupted:", command)
    terminal.clear()
    terminal.type("-l", "chronicle now")
    terminal.type("Enter")
    terminal.wait(r"^time %d of " % second)
    print("and still there")
finally:
    terminal.close()
