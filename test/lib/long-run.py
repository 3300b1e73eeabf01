# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records and verifies a long run, and checks that the indexer keeps within its memory bound of
docs/record.md: twice the program's own memory plus 256 MB."""
import argparse
import json
import os
import subprocess
import sys
import time

import recording

parser = argparse.ArgumentParser()
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
        sys.exit("%s ended with status %d" % (what, process.returncode))
    return process.stdout


native = timed("native", options.command)
record = recording.record_command(options.trace, options.command)
if timed("record", record) != native:
    sys.exit("the recorded run did not print what the native run printed")
print("size:", os.path.getsize(options.trace))
verified = json.loads(timed("verify", [recording.CHRONICLE, "verify", "--json", options.trace]))
end = json.loads(timed("info", [recording.CHRONICLE, "info", "--json", options.trace]))["end"]
print("instructions:", end["instructions"])
if not options.instructions <= end["instructions"] == verified["instructions"]:
    sys.exit("only %s instructions were verified" % verified["instructions"])
indexer, program = end["peak-indexer-kb"], end["peak-program-kb"]
bound = 2 * program + 256 * 1024
print("indexer %d kB, program %d kB, bound %d kB" % (indexer, program, bound))
if not 0 < indexer <= bound:
    sys.exit("the indexer used more memory than docs/record.md promises")
print("indexer memory within the bound")
os.remove(options.trace)
