# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records a program that prints "ready" and then computes for ever. Kills the program or its
recorder with SIGKILL (the recorder only after it has written a checkpoint), and prints what the
trace says afterwards."""
import argparse
import os
import signal
import subprocess
import sys
import time

import recording

parser = argparse.ArgumentParser()
parser.add_argument("--trace", required=True)
parser.add_argument("--victim", choices=("program", "recorder"), required=True)
parser.add_argument("command", nargs="+")
options = parser.parse_args()

process = subprocess.Popen(
    recording.record_command(options.trace, options.command), stdout=subprocess.PIPE
)
while b"ready" not in process.stdout.readline():
    pass


def facts():
    """What `chronicle info` says now. It says nothing until the file has a checkpoint."""
    return recording.facts("info", options.trace)


def wait_for(condition, what):
    """Waits for a condition. The limit is only for conditions that never become true: no test may
    depend on the speed of the machine."""
    end = time.monotonic() + 300
    while not condition():
        if time.monotonic() > end:
            process.kill()
            sys.exit("kill.py: " + what)
        time.sleep(0.1)


time.sleep(1)
if options.victim == "recorder":
    # Early checkpoints may have fewer: a block that takes long ends early.
    wait_for(lambda: facts().get("instructions", 0) >= 100000, "no checkpoint was written")


def children(pid):
    """The children of the recorder that execute another file: the program."""
    found = []
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/children" % (pid, task)) as file:
            found += [int(child) for child in file.read().split()]
    own = os.readlink("/proc/%d/exe" % pid)
    return [child for child in found if os.readlink("/proc/%d/exe" % child) != own]


programs = children(process.pid)
if len(programs) != 1:
    process.kill()
    sys.exit("kill.py: expected one child of the recorder, found %s" % programs)
os.kill(process.pid if options.victim == "recorder" else programs[0], signal.SIGKILL)
print("record ended with", process.wait(300))
wait_for(
    lambda: not os.path.exists("/proc/%d" % programs[0]),
    "the program %d is still running, although its recorder was killed" % programs[0],
)
left = facts()
print("reason", (left.get("end") or {}).get("reason"))
print("instructions", left["instructions"])
print("truncated", left.get("truncated"))
