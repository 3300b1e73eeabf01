# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records a program on a terminal of its own and types Ctrl-C: interrupt.py --times N
--trace FILE -- program. Waits for "ready" first, and a moment between the interrupts.
Prints how `chronicle record` ended, then everything that the terminal showed."""
import argparse
import os
import pty
import select
import signal
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--chronicle", required=True)
parser.add_argument("--trace", required=True)
parser.add_argument("--times", type=int, default=1)
parser.add_argument("--quiet", action="store_true")
parser.add_argument("command", nargs="+")
options = parser.parse_args()

if os.path.exists(options.trace):
    os.remove(options.trace)
command = [options.chronicle, "record", "-o", options.trace]
command += (["--quiet"] if options.quiet else []) + ["--"] + options.command
child, terminal = pty.fork()
if child == 0:
    # Test runners like to ignore it, and that would be inherited.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execv(command[0], command)

shown = b""
typed = 0
next_at = None
deadline = time.monotonic() + 600
while True:
    if time.monotonic() > deadline:
        os.kill(child, 9)
        sys.exit("interrupt.py: no end after 600 seconds; shown last: %r" % shown[-500:])
    if typed < options.times and next_at and time.monotonic() > next_at:
        os.write(terminal, b"\x03")
        typed += 1
        next_at = time.monotonic() + 1
    if not select.select([terminal], [], [], 0.1)[0]:
        continue
    try:
        data = os.read(terminal, 4096)
    except OSError:  # the other side is closed
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
# Enough to judge: a live line makes it long.
shown = shown[:2000] + shown[2000:][-2000:]
sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))
