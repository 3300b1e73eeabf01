# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records and verifies a long run, and holds the indexer to its memory bound: twice the
program's own memory plus 256 MB (docs/record.md states it)."""
import argparse
import json
import os
import subprocess
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--chronicle", required=True)
parser.add_argument("--trace", required=True)
parser.add_argument("--instructions", type=int, required=True)
parser.add_argument("command", nargs="+")
options = parser.parse_args()


def timed(what, command):
    start = time.monotonic()
    process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    print("%s: %.1f seconds" % (what, time.monotonic() - start))
    if process.returncode:
        print(process.stdout[-2000:], process.stderr[-2000:])
        sys.exit("%s gave %d" % (what, process.returncode))
    return process.stdout


if os.path.exists(options.trace):
    os.remove(options.trace)
native = timed("native", options.command)
record = [options.chronicle, "record", "--quiet", "-o", options.trace, "--"]
if timed("record", record + options.command) != native:
    sys.exit("the recorded run printed something else")
print("size:", os.path.getsize(options.trace))
verified = json.loads(timed("verify", [options.chronicle, "verify", "--json", options.trace]))
end = json.loads(timed("info", [options.chronicle, "info", "--json", options.trace]))["end"]
print("instructions:", end["instructions"])
if not options.instructions <= end["instructions"] == verified["instructions"]:
    sys.exit("%s verified" % verified["instructions"])
indexer, program = end["peak-indexer-kb"], end["peak-program-kb"]
bound = 2 * program + 256 * 1024
print("indexer %d kB, program %d kB, bound %d kB" % (indexer, program, bound))
if not 0 < indexer <= bound:
    sys.exit("the indexer used more memory than docs/record.md promises")
print("indexer memory within the bound")
os.remove(options.trace)
