# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records a program that prints "ready" and then computes for ever, and kills it, or its
recorder, with SIGKILL from outside; the recorder when its file has something to keep.
Prints what is left."""
import argparse
import json
import os
import signal
import subprocess
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--chronicle", required=True)
parser.add_argument("--trace", required=True)
parser.add_argument("--victim", choices=("program", "recorder"), required=True)
parser.add_argument("command", nargs="+")
options = parser.parse_args()

if os.path.exists(options.trace):
    os.remove(options.trace)
record = [options.chronicle, "record", "--quiet", "-o", options.trace, "--"]
process = subprocess.Popen(record + options.command, stdout=subprocess.PIPE)
while b"ready" not in process.stdout.readline():
    pass



def facts():
    """What the file says now; nothing until it has a checkpoint."""
    info = [options.chronicle, "info", "--json", options.trace]
    done = subprocess.run(info, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(done.stdout) if done.returncode == 0 else {}


def wait_for(condition, what):
    """Only for what would never come: nothing here may depend on speed."""
    end = time.monotonic() + 300
    while not condition():
        if time.monotonic() > end:
            process.kill()
            sys.exit("kill.py: " + what)
        time.sleep(0.1)


time.sleep(1)
if options.victim == "recorder":
    wait_for(lambda: facts().get("instructions"), "no checkpoint was written")


def children(pid):
    found = []
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/children" % (pid, task)) as file:
            found += [int(child) for child in file.read().split()]
    return found


programs = children(process.pid)
if len(programs) != 1:
    process.kill()
    sys.exit("kill.py: the recorder has the children %s" % programs)
os.kill(process.pid if options.victim == "recorder" else programs[0], signal.SIGKILL)
print("record ended with", process.wait(300))
wait_for(
    lambda: not os.path.exists("/proc/%d" % programs[0]),
    "the program %d outlives its recorder" % programs[0],
)
left = facts()
print("reason", (left.get("end") or {}).get("reason"))
print("instructions", left["instructions"])
print("truncated", left.get("truncated"))
