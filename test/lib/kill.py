# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records a program that prints "ready" and then computes for ever, and kills it, or its
recorder, with SIGKILL from outside. Prints what is left."""
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
parser.add_argument("--seconds", type=float, default=1, help="how long to let it compute")
parser.add_argument("command", nargs="+")
options = parser.parse_args()

if os.path.exists(options.trace):
    os.remove(options.trace)
record = [options.chronicle, "record", "--quiet", "-o", options.trace, "--"]
process = subprocess.Popen(record + options.command, stdout=subprocess.PIPE)
while b"ready" not in process.stdout.readline():
    pass
time.sleep(options.seconds)


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
print("record ended with", process.wait(60))
for _ in range(100):
    if not os.path.exists("/proc/%d" % programs[0]):
        break
    time.sleep(0.1)
else:
    os.kill(programs[0], signal.SIGKILL)
    sys.exit("kill.py: the program outlives its recorder")
facts = json.loads(subprocess.check_output([options.chronicle, "info", "--json", options.trace]))
end = facts.get("end") or {}
print("reason", end.get("reason"))
print("instructions", facts["instructions"])
print("truncated", facts.get("truncated"))
