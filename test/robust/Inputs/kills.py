# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records programs that print the time, kills either the recorder or the program with SIGKILL at a
random moment, and compares what the trace has with what was printed.

usage: kills.py --kind recorder|program --program PROGRAM --directory DIRECTORY [--count N] [--seed N]

Prints: tried, opened, exact (chronicle verify finds no difference, as far as the trace goes), early
(killed before the program printed anything, and nothing to open), lost (seconds between what the
trace has last and what was printed last)."""
import argparse
import os
import random
import re
import signal
import subprocess
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--kind", choices=("recorder", "program"), required=True)
parser.add_argument("--program", required=True, help="prints CLOCK_MONOTONIC in lines; with an argument it sleeps between")
parser.add_argument("--directory", required=True)
parser.add_argument("--count", type=int, default=4)
parser.add_argument("--seed", type=int, default=1)
options = parser.parse_args()
random.seed(options.seed)
trace = os.path.join(options.directory, "killed.db")
printed = os.path.join(options.directory, "printed")


def children(pid):
    """The children of a process that execute another file. Threads and children may end meanwhile."""
    found = []
    own = os.readlink("/proc/%d/exe" % pid)
    for task in os.listdir("/proc/%d/task" % pid):
        try:
            with open("/proc/%d/task/%s/children" % (pid, task)) as file:
                numbers = file.read().split()
            found += [int(child) for child in numbers if os.readlink("/proc/%s/exe" % child) != own]
        except OSError:
            pass
    return found


def last_recorded():
    request = '{"cmd":"system-calls","names":"write","backward":true,"limit":1}'
    answer = subprocess.run(["chronicle", "query", trace, request], capture_output=True, text=True)
    times = re.findall(r"(\d+\.\d{9})", answer.stdout)
    return float(times[-1]) if times else None


opened = exact = early = 0
lost = []
failed = []
for number in range(options.count):
    if os.path.exists(trace):
        os.remove(trace)
    slow = ["slow"] if random.random() < 0.5 else []
    with open(printed, "wb") as out:
        run = subprocess.Popen(
            ["chronicle", "record", "--quiet", "--no-keep", "-o", trace, "--", options.program] + slow,
            stdout=out, stderr=subprocess.DEVNULL)
    time.sleep(random.uniform(0.02, 3))
    victim = run.pid
    if options.kind == "program":
        programs = children(run.pid)
        victim = programs[0] if programs else None
    if victim:
        os.kill(victim, signal.SIGKILL)
    else:
        run.terminate()
    run.wait()
    # The program of a killed recorder ends soon, too, and prints until then.
    time.sleep(0.2)
    with open(printed) as file:
        times = [float(line) for line in file.read().split("\n")[:-1]]
    info = subprocess.run(["chronicle", "info", trace], capture_output=True, text=True)
    if info.returncode != 0:
        if times:
            failed.append(info.stderr)
        else:
            early += 1
        continue
    opened += 1
    verified = subprocess.run(["chronicle", "verify", trace], capture_output=True, text=True)
    if re.search(r"^exact", verified.stdout, re.MULTILINE):
        exact += 1
    else:
        failed.append(verified.stdout)
    if times:
        last = last_recorded()
        lost.append(times[-1] - (times[0] if last is None else last))
lost.sort()
print("%s killed: tried %d, opened %d, exact %d, early %d, lost at most %.2f s, half of them at most %.2f s" % (
    options.kind, options.count, opened, exact, early, lost[-1] if lost else 0, lost[len(lost) // 2] if lost else 0))
for text in failed:
    print("not so:", text)
sys.exit(1 if failed or opened + early != options.count else 0)
