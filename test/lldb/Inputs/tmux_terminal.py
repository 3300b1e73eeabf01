# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program in a terminal, by tmux."""
import re
import subprocess
import sys
import tempfile
import time

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

    def prompt(self):
        """Until LLDB waits for a command."""
        self.wait(r"^\(lldb\) *\n*\Z")

    def clear(self):
        """An empty line at the top of an empty screen."""
        self.type("C-u", "C-l")
        self.wait(r"\A\(lldb\) *\n")

    def close(self):
        subprocess.run(self.tmux + ["kill-server"], stderr=subprocess.DEVNULL)
        self.directory.cleanup()
