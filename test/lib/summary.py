# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the results that `lit --output FILE` wrote: one line, exit 0 if all is well.

A run that left no results, or no test that passed, is a failure."""
import json
import os
import sys

PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
# lit calls skipped what it had no time for: that is no success.
UNSUPPORTED = {"UNSUPPORTED"}
IGNORED = {"EXCLUDED"}


def main(path):
    if not os.path.exists(path):
        print("check: lit left no results")
        print("0 passed, 1 failed")
        return 1
    with open(path) as file:
        tests = json.load(file)["tests"]
    passed = [t for t in tests if t["code"] in PASSED]
    skipped = [t for t in tests if t["code"] in UNSUPPORTED]
    failed = [t for t in tests if t["code"] not in PASSED | UNSUPPORTED | IGNORED]
    for test in skipped:
        print("skipped:", test["name"])
    for test in failed:
        print("failed (%s): %s" % (test["code"].lower(), test["name"]))
    if not passed and not failed:
        print("check: no test ran")
        print("0 passed, 1 failed")
        return 1
    line = "%d passed, %d failed" % (len(passed), len(failed))
    if skipped:
        line += ", %d skipped" % len(skipped)
    print(line)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
