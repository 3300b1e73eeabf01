# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""terminal.py trace.db: a session in a terminal, by tmux: Tab, Enter and Ctrl-C."""
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time

trace = sys.argv[1]
PATIENCE = 600  # for a machine under load; nothing waits that long if all is well


class Terminal:
    def __init__(self, command):
        self.directory = tempfile.TemporaryDirectory()
        self.tmux = ["tmux", "-f", "/dev/null", "-S", self.directory.name + "/socket"]
        size = ["-x", "160", "-y", "200"]
        environment = "env TERM=screen LANG=C.UTF-8 " + command
        self.run("new-session", "-d", *size, environment)
        self.run("set-option", "-g", "history-limit", "50000")

    def run(self, *arguments):
        done = subprocess.run(
            self.tmux + list(arguments), stdout=subprocess.PIPE, text=True, check=True
        )
        return done.stdout

    def screen(self):
        return self.run("capture-pane", "-p", "-J")

    def type(self, *keys):
        self.run("send-keys", *keys)

    def wait(self, pattern, press=None):
        """Until the screen shows the pattern; gives the match. Meanwhile presses a key
        now and then: the first may come before there is somebody to hear it."""
        end = time.monotonic() + PATIENCE
        next_press = time.monotonic() + 1
        while True:
            screen = self.screen()
            found = re.search(pattern, screen, re.M)
            if found:
                return found
            if time.monotonic() > end:
                sys.exit("no %r on the screen:\n%s" % (pattern, screen))
            if press and time.monotonic() > next_press:
                self.type(press)
                next_press = time.monotonic() + 5
            time.sleep(0.1)

    def clear(self):
        """An empty line at the top of an empty screen."""
        self.type("C-u", "C-l")
        self.wait(r"\A\(lldb\) *\n")

    def close(self):
        subprocess.run(self.tmux + ["kill-server"], stderr=subprocess.DEVNULL)
        self.directory.cleanup()


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
    terminal.wait(r"^\(lldb\) *\n*\Z")
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
        terminal.wait(r"^\(lldb\) *\n*\Z")
        terminal.clear()
        terminal.type("-l", command)
        terminal.type("Enter")
        terminal.wait(re.escape(command))
        terminal.wait(r"^Interrupted: there may be more\.", press="C-c")
        terminal.wait(r"^\(lldb\) *\n*\Z")
        print("interrupted:", command)
    terminal.clear()
    terminal.type("-l", "chronicle now")
    terminal.type("Enter")
    terminal.wait(r"^time %d of " % second)
    print("and still there")
finally:
    terminal.close()
