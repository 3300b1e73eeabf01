# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records a program on a terminal of its own and types Ctrl-C there.

    interrupt.py [--times N] [--quiet] --trace FILE -- PROGRAM...

Waits until the program prints "ready", and for a second between two interrupts. Prints how
`chronicle record` ended, then what the terminal showed."""
import argparse
import os
import pty
import select
import signal
import sys
import time

import recording

parser = argparse.ArgumentParser()
parser.add_argument("--trace", required=True)
parser.add_argument("--times", type=int, default=1)
parser.add_argument("--quiet", action="store_true")
parser.add_argument("command", nargs="+")
options = parser.parse_args()

command = recording.record_command(
    options.trace, options.command, ["--quiet"] if options.quiet else []
)
child, terminal = pty.fork()
if child == 0:
    # The test runner may ignore SIGINT, and the program would inherit that.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execv(command[0], command)

shown = b""
typed = 0
next_at = None
deadline = time.monotonic() + recording.TIMEOUT
while True:
    if time.monotonic() > deadline:
        os.kill(child, 9)
        sys.exit("interrupt.py: the recording did not end; the terminal showed %r" % shown[-500:])
    if typed < options.times and next_at and time.monotonic() > next_at:
        os.write(terminal, b"\x03")
        typed += 1
        next_at = time.monotonic() + 1
    if not select.select([terminal], [], [], 0.1)[0]:
        continue
    try:
        data = os.read(terminal, 4096)
    except OSError:  # the program closed the terminal
        break
    if not data:
        break
    shown += data
    if next_at is None and b"ready" in shown:
        next_at = time.monotonic() + 0.5
_, status = os.waitpid(child, 0)
if os.WIFSIGNALED(status):
    print("died of signal", os.WTERMSIG(status))
else:
    print("exited with", os.WEXITSTATUS(status))
sys.stdout.flush()
# The live line makes the output long; its beginning and its end are enough.
shown = shown[:2000] + shown[2000:][-2000:]
sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))
