# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line of utils/lint."""
import argparse
import json
import os
import pathlib
import sys
import time

from . import conventions, formatting, rooms, tidy
from .sources import LintError, Sources

# In the order in which they run: the quick ones first.
CHECKS = {
    "rooms": rooms.check,
    "conventions": conventions.check,
    "format": formatting.check,
    "tidy": tidy.check,
}

DESCRIPTION = """\
Checks the sources without running them.

checks:
  rooms        utils/rooms.txt: which folder may include from which, how many
               files a folder has, where private LLDB headers may be used
  conventions  SPDX lines, include guards, namespaces, at most 500 lines per file,
               documents that wrap at 100 columns, and whose links and
               tables of functions name what exists
  format       clang-format, with the .clang-format files of this repository
  tidy         clang-tidy, with the .clang-tidy files of this repository. Needs a
               build (utils/build). A file is checked again only after it, a header
               of ours that it includes, its compiler options or the .clang-tidy
               files have changed
"""

EPILOG = """\
examples:
  utils/lint                  everything
  utils/lint rooms format     two of the checks
  utils/lint --fix format     format all files

exit status: 0 if nothing was found, 1 if something was found, 2 if a check
could not run
"""


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="utils/lint",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    here = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("checks", nargs="*", metavar="CHECK", help="which checks to run (default all)")
    parser.add_argument("--fix", action="store_true", help="change the files where a check knows how")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="how many processes to use (default %(default)s)")
    parser.add_argument("--root", type=pathlib.Path, default=here, metavar="DIR", help="the source tree to check (default this one)")
    parser.add_argument("--build", type=pathlib.Path, metavar="DIR", help="the build whose compile_commands.json tidy uses (default $CHRONICLE_BUILD or build)")
    parser.add_argument("--results", type=pathlib.Path, metavar="FILE", help="write the result of each check as JSON, in the form that lit uses")
    options = parser.parse_args(arguments)
    for name in options.checks:
        if name not in CHECKS:
            parser.error("unknown check '%s': expected %s" % (name, ", ".join(CHECKS)))
    if options.jobs < 1:
        parser.error("invalid number of jobs '%d': expected a positive integer" % options.jobs)
    options.root = options.root.resolve()
    options.build = (options.build or pathlib.Path(os.environ.get("CHRONICLE_BUILD") or options.root / "build")).resolve()
    options.checks = [name for name in CHECKS if not options.checks or name in options.checks]
    return options


def run_check(name, sources, options):
    """The findings of one check, which are printed as they are returned, and lit's name for the result."""
    start = time.monotonic()
    try:
        findings = CHECKS[name](sources, options)
    except LintError as error:
        print("lint: %s could not run: %s" % (name, error), flush=True)
        return "UNRESOLVED"
    for finding in findings:
        print(finding)
    count = len(findings)
    verdict = "clean" if not count else "%d finding%s" % (count, "" if count == 1 else "s")
    print("lint: %s: %s (%.1f s)" % (name, verdict, time.monotonic() - start), flush=True)
    return "FAIL" if count else "PASS"


def main(arguments):
    options = parse(arguments)
    sources = Sources(options.root)
    try:
        results = {name: run_check(name, sources, options) for name in options.checks}
    except KeyboardInterrupt:
        print("lint: interrupted", file=sys.stderr)
        return 130
    if options.results:
        tests = [{"name": "lint :: " + name, "code": code} for name, code in results.items()]
        options.results.write_text(json.dumps({"tests": tests}) + "\n")
    if "UNRESOLVED" in results.values():
        return 2
    return 1 if "FAIL" in results.values() else 0
