# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the results in files that `lit --output FILE` and `utils/lint --results FILE` wrote: prints one line, and
exits with status 0 if nothing failed.

A run that left no results, or in which no test passed, is a failure."""
import json
import os
import sys

PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
# lit reports as skipped what it had no time for, which is a failure.
UNSUPPORTED = {"UNSUPPORTED"}
IGNORED = {"EXCLUDED"}


def load(paths):
    """All results, and the files that are missing."""
    tests, missing = [], []
    for path in paths:
        if os.path.exists(path):
            with open(path) as file:
                tests += json.load(file)["tests"]
        else:
            missing.append(path)
    return tests, missing


def main(paths):
    tests, missing = load(paths)
    if missing:
        print("check: these results are missing: %s" % " ".join(missing))
        print("0 passed, 1 failed")
        return 1
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
    sys.exit(main(sys.argv[1:]))
