# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parses the command line and runs the measurements in order."""
import argparse
import json
import os
import pathlib
import platform
import signal
import subprocess
import sys
import tempfile
import time

from . import alternatives, by_workload, compare, lengths, micro, queries, recording, starting, stepping, table
from .process import BenchError, progress
from .samples import Measures
from .workloads import SIZES, WORKLOADS, parse_size, program

SOURCE = pathlib.Path(__file__).resolve().parents[3]
# The parts that need recordings of the workloads.
WORKLOAD_PARTS = {"record", "warm", "query", "length", "verify"}
# The version of the file that --json writes.
FORMAT = 2

EPILOG = """\
parts: record (with size and memory), warm (recorded again), start (a program that does nothing), query, step, length, verify, instead, micro
workloads: %s
sizes, in instructions per workload: %s; the size of a database is judged from 3 G on

examples:
  utils/bench                                everything, about ten minutes
  utils/bench --size tiny --repeat 1         everything once, in a minute or two: does it work?
  utils/bench --size 3.2G --repeat 3         as for docs/performance.md
  utils/bench --only record,gzip,map         recording, on two workloads
  utils/bench --only micro --json now.json
  utils/bench --only micro --compare now.json    what moved since

exit status: 0, or 1 if --strict was given and something misses its must; 2 if something could not be
measured (the rest is shown); 130 if interrupted (what was measured by then is shown)
""" % (
    ", ".join(workload.name for workload in WORKLOADS),
    ", ".join("%s %s" % (name, "%.0f M" % (size / 1e6) if size < 1e9 else "%g G" % (size / 1e9)) for name, size in SIZES.items()),
)


class Setting:
    """What to measure, with which programs, and in which folder."""

    def __init__(self, options, place):
        self.place = place
        self.instructions = parse_size(options.size)
        self.quick = self.instructions < SIZES["small"]
        self.repeat = options.repeat
        self.samples = options.samples or (10 if self.quick else 210)
        self.steps = 3 if self.quick else 15
        self.build = pathlib.Path(options.build).resolve()
        self.chronicle = self.build / "bin" / "chronicle"
        self.query_latency = self.build / "test" / "benchmark" / "query-latency"
        self.micro = self.build / "test" / "benchmark" / "micro-benchmarks"
        for path in (self.chronicle, self.query_latency, self.micro):
            if not path.exists():
                raise BenchError("%s is missing; run without --no-setup to build it" % path)
        self.valgrind, self.lldb = program("valgrind"), program("lldb-22")
        self.parts, self.workloads = chosen(options.only)

    def wants(self, part):
        return part in self.parts


def chosen(only):
    """The parts and the workloads that --only names. If it names no part, all parts; the same for workloads."""
    names = [name for text in only for name in text.split(",") if name]
    parts = [name for name in names if name in table.PARTS]
    workloads = [workload for workload in WORKLOADS if workload.name in names]
    known = set(table.PARTS) | {workload.name for workload in WORKLOADS}
    for name in names:
        if name not in known:
            raise BenchError("unknown part or workload '%s'; expected one of %s" % (name, ", ".join(sorted(known))))
    if workloads and not parts:
        parts = [part for part in table.PARTS if part in WORKLOAD_PARTS]
    return parts or list(table.PARTS), workloads or WORKLOADS


def measure_workload(setting, measures, workload):
    """Runs all repetitions. In each, the run of a tenth of the length follows right after the full one."""
    for repetition in range(setting.repeat):
        for suffix, length in (("", 1), (lengths.SHORT, 10)):
            if suffix and not setting.wants("length"):
                continue
            command = workload.command(setting.place, workload.amount(setting.instructions / length))
            made = recording.measure(setting, measures, workload.name + suffix, command, short=bool(suffix))
            if setting.wants("query") or setting.wants("length"):
                queries.measure(setting, measures, workload.name + suffix, made, repetition)
            made.trace.unlink()


def measure(setting, measures, notes):
    """Measures everything that is wanted. If a part fails, adds a note and goes on. Returns whether no part failed."""
    work = []
    if WORKLOAD_PARTS & set(setting.parts):
        work += [(each.name, lambda each=each: measure_workload(setting, measures, each)) for each in setting.workloads]
    work += [
        (name, act)
        for name, act in (
            ("start", lambda: starting.measure(setting, measures)),
            ("step", lambda: stepping.measure(setting, measures)),
            ("instead", lambda: alternatives.measure(setting, measures, notes)),
            ("micro", lambda: micro.measure(setting, measures)),
        )
        if setting.wants(name)
    ]
    whole = True
    for name, act in work:
        try:
            act()
        except BenchError as error:
            progress("%s: %s" % (name, error))
            notes.append("%s was not measured, or only in part: %s" % (name, error))
            whole = False
    return whole


def machine():
    models = [line for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return {
        "processors": os.cpu_count(),
        "model": models[0].split(":", 1)[1].strip() if models else platform.machine(),
        "system": platform.release(),
    }


def set_up(options):
    """Installs packages and builds."""
    subprocess.run([SOURCE / "utils" / "setup"], check=True, stdout=sys.stderr)
    environment = dict(os.environ, CHRONICLE_BUILD=str(pathlib.Path(options.build).resolve()))
    targets = ["chronicle", "chronicle-tool", "lldbChronicle", "query-latency", "micro-benchmarks"]
    subprocess.run([SOURCE / "utils" / "build", *targets], check=True, env=environment, stdout=sys.stderr)


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="utils/bench",
        description="Measures Chronicle on real programs and compares the results with the targets of docs/performance.md.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--size", default="small", help="length of the workloads: %s, or a number of instructions such as 800M (default small)" % ", ".join(SIZES))
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="number of repetitions, which give the spread (default 3)")
    parser.add_argument(
        "--samples", type=int, metavar="N", help="questions of each kind per workload, in all repetitions together (default 210)"
    )
    parser.add_argument("--only", action="append", default=[], metavar="NAME,…", help="measure only these parts or workloads (see below)")
    parser.add_argument("--json", metavar="FILE", help="write everything that was measured")
    parser.add_argument("--compare", metavar="FILE", help="print what moved since the run that wrote FILE")
    parser.add_argument("--strict", action="store_true", help="fail if a must is missed")
    parser.add_argument("--build", default=SOURCE / "build", metavar="DIR", help="the build to measure (default build)")
    parser.add_argument("--no-setup", action="store_true", help="do not install packages or build")
    parser.add_argument("--work", metavar="DIR", help="folder for temporary files; a large run needs 2 GB (default $TMPDIR)")
    options = parser.parse_args(arguments)
    if options.repeat < 1:
        parser.error("--repeat must be at least 1")
    if options.samples is not None and options.samples < 1:
        parser.error("--samples must be at least 1")
    return options


def report(setting, measures, notes, options, earlier, load):
    made = table.rows(measures, setting.parts)
    result = {
        "format": FORMAT,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": {**machine(), "load": load},
        "size": options.size,
        "repeat": setting.repeat,
        "rows": [row.as_json() for row in made],
        "measures": measures.as_json(),
        "notes": notes,
    }
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1) + "\n")
    print(table.render(made))
    for further in (by_workload.render(measures), lengths.render(measures)):
        if further:
            print("\n" + further)
    for note in notes:
        print("note: " + note)
    if earlier:
        print("\ncompared with %s:" % options.compare)
        for sentence in compare.different_settings(earlier, result):
            print("note: " + sentence)
        print("\n".join(compare.compare(earlier["measures"], result["measures"])))
    return made


def load_earlier(path):
    try:
        earlier = json.loads(pathlib.Path(path).read_text())
    except OSError as error:
        raise BenchError("cannot read %s: %s" % (path, error.strerror))
    except ValueError:
        earlier = None
    if not isinstance(earlier, dict) or earlier.get("format") != FORMAT:
        raise BenchError("%s was not written by utils/bench --json of this version" % path)
    return earlier


def prepare(options):
    """Checks the options before anything long starts. Returns the earlier result, if there is one."""
    earlier = load_earlier(options.compare) if options.compare else None
    parse_size(options.size)
    chosen(options.only)
    if options.json and not pathlib.Path(options.json).resolve().parent.is_dir():
        raise BenchError("cannot write %s: its directory does not exist" % options.json)
    if not options.no_setup:
        set_up(options)
    return earlier


def measure_and_report(options, earlier, place):
    """Measures, prints the report and returns the exit status."""
    setting, measures, notes = Setting(options, place), Measures(), []
    load = os.getloadavg()[0]
    if load > os.cpu_count() / 2:
        notes.append("the machine was busy with other work (load %.1f), so times may be wrong" % load)
    try:
        status = 0 if measure(setting, measures, notes) else 2
    except KeyboardInterrupt:
        status = 130
        progress("interrupted; this was measured so far")
    made = report(setting, measures, notes, options, earlier, load)
    missed = any(row.verdict == "miss" for row in made)
    return status or int(options.strict and missed)


def main(arguments):
    options = parse(arguments)
    # After SIGTERM or Ctrl-C no process and no file is left behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        earlier = prepare(options)
        with tempfile.TemporaryDirectory(prefix="chronicle-bench-", dir=options.work, ignore_cleanup_errors=True) as place:
            return measure_and_report(options, earlier, pathlib.Path(place))
    except (BenchError, subprocess.CalledProcessError, OSError) as error:
        print("bench: %s" % error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
