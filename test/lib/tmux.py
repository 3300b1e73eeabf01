# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs LLDB in a terminal, by tmux, and types commands and keys."""
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time

from recording import TIMEOUT

# Without its status line at the bottom, LLDB's prompt is the last line of the screen.
WITHOUT_STATUSLINE = ["-O", "settings set show-statusline false"]


class Terminal:
    @classmethod
    def debug(cls, trace, *options, columns=160):
        """Starts LLDB on a trace and waits for its first prompt."""
        command = ["chronicle", "debug", os.path.abspath(trace), "-x", *options]
        terminal = cls(shlex.join(command), columns)
        try:
            terminal.wait(r"stop reason = ")
            terminal.wait(r"^\(lldb\) *$")
        except SystemExit:
            terminal.close()
            raise
        return terminal

    def __init__(self, command, columns=160):
        self.directory = tempfile.TemporaryDirectory()
        self.tmux = ["tmux", "-f", "/dev/null", "-S", self.directory.name + "/socket"]
        size = ["-x", str(columns), "-y", "200"]
        environment = "env TERM=screen LANG=C.UTF-8 " + command
        self.run("new-session", "-d", *size, environment)
        self.run("set-option", "-g", "history-limit", "50000")

    def run(self, *arguments):
        done = subprocess.run(
            self.tmux + list(arguments), stdout=subprocess.PIPE, text=True, check=True
        )
        return done.stdout

    def screen(self, *options):
        """What the terminal shows; lines that it wrapped are joined."""
        return self.run("capture-pane", "-p", "-J", *options)

    def type(self, *keys):
        self.run("send-keys", *keys)

    def enter(self, text):
        self.type("-l", text)
        self.type("Enter")

    def wait(self, pattern, press=None):
        """Waits until the screen shows the pattern, and returns the match. If `press` is a key,
        presses it every five seconds: LLDB may not be ready for the first one."""
        end = time.monotonic() + TIMEOUT
        next_press = time.monotonic() + 1
        while True:
            screen = self.screen()
            found = re.search(pattern, screen, re.M)
            if found:
                return found
            if time.monotonic() > end:
                sys.exit("the screen does not show %r:\n%s" % (pattern, screen))
            if press and time.monotonic() > next_press:
                self.type(press)
                next_press = time.monotonic() + 5
            time.sleep(0.1)

    def press_in_run(self, run):
        """Types a command of Chronicle, and Ctrl-C when the process runs. The command prints nothing
        until the stop; before the run it looks for its destination, where Ctrl-C ends it."""
        delay = 0.5
        while True:
            self.enter(run)
            self.wait(re.escape(run))
            time.sleep(delay)
            self.type("C-c")
            if self.wait(r"stop reason = |nothing has moved")[0] != "nothing has moved":
                return
            self.prompt()
            self.clear()
            delay *= 2

    def now(self):
        """The time that `chronicle now` prints, alone on an empty screen."""
        self.clear()
        self.enter("chronicle now")
        return int(self.wait(r"^time ([\d,]+) of ")[1].replace(",", ""))

    def prompt(self):
        """Waits until LLDB waits for a command."""
        self.wait(r"^\(lldb\) *\n*\Z")

    def clear(self):
        """Clears the line and the screen, so that an empty prompt is at the top."""
        self.type("C-u", "C-l")
        self.wait(r"\A\(lldb\) *\n")

    def close(self):
        subprocess.run(self.tmux + ["kill-server"], stderr=subprocess.DEVNULL)
        self.directory.cleanup()
