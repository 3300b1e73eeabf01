# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the answers to last-write and info, and fails unless the write was less than a hundred
instructions before the end of the run."""
import json
import sys

results = [json.loads(line).get("result") for line in sys.stdin]
if len(results) != 2 or not all(results):
    sys.exit("recent.py: there were no two results: %s" % results)
write = next(result["time"] for result in results if "time" in result)
end = next(result["instructions"] for result in results if "instructions" in result)
if not end - 100 < write < end:
    sys.exit("recent.py: the last write was at %d, the end is at %d" % (write, end))
