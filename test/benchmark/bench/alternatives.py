# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the alternatives that can run on this machine: gdb record full, Valgrind's lackey, rr. The measure is the
time that they add per instruction, because gdb cannot record runs as long as the others can."""
import pathlib
import shutil
import subprocess

from .process import BenchError, progress, run
from .recording import record
from .workloads import Gzip, Map, program

# Length of the runs, in instructions. lackey takes a minute for its run.
LACKEY_RUN, RUN = 20e6, 300e6


def gdb(setting, commands):
    """Runs gdb with commands on a short run of the stepping program. Returns the time and gdb's output."""
    binary = Map().build(setting.place, ["-std=c++17", "-O0"], "-steps")
    said = setting.place / "gdb-said"
    texts = ["set pagination off", "set confirm off", "break day", "run", *commands]
    arguments = [argument for text in texts for argument in ("-ex", text)]
    with open(said, "wb") as out:
        outcome = run([program("gdb"), "-q", "-nx", "-batch", *arguments, "--args", binary, 20], stdout=out)
    return outcome, said.read_text(errors="replace")


def gdb_record(setting, measures, notes):
    """gdb steps through every instruction, so it records only one call of a function."""
    start, _ = gdb(setting, [])
    limit = "set record full insn-number-max unlimited"
    whole, said = gdb(setting, [limit, "record full", "finish", "info record"])
    counts = [line.split()[2] for line in said.splitlines() if line.startswith("Log contains ")]
    if not counts:
        raise BenchError("gdb printed: %s" % said.strip().splitlines()[-1])
    each = max(1e-9, whole.seconds - start.seconds) / int(counts[0]) * 1e9
    measures.add("instead/gdb-record/ns-per-instruction", each, "ns")
    if "Program stopped." in said:
        note = "gdb record full stopped after %s instructions at one that it does not know" % counts[0]
        if note not in notes:
            notes.append(note)
    progress("gdb record full: %s instructions at %.0f ns each" % (counts[0], each))


class Compressing:
    """A run of gzip of about this many instructions. It is run natively and recorded, so that what another tool
    adds can be given per instruction."""

    def __init__(self, setting, instructions):
        self.command = Gzip().command(setting.place, Gzip().amount(min(setting.instructions, instructions)))
        self.native = run(self.command)
        self.recorded, recording = record(setting, self.command, "instead")
        self.instructions, self.size = recording.instructions, recording.trace.stat().st_size
        recording.trace.unlink()

    def add(self, measures, name, outcome, size):
        nanoseconds = max(1e-9, outcome.seconds - self.native.seconds) / self.instructions * 1e9
        measures.add("instead/%s/ns-per-instruction" % name, nanoseconds, "ns")
        measures.add("instead/%s/bytes-per-instruction" % name, size / self.instructions, "B")
        progress("%s: %.3g ns and %.3g bytes per instruction" % (name, nanoseconds, size / self.instructions))


def lackey(setting, measures, notes):
    """Logs all memory accesses as text."""
    gzip, trace = Compressing(setting, LACKEY_RUN), setting.place / "lackey"
    tool = [setting.valgrind, "--tool=lackey", "--trace-mem=yes", "--log-file=%s" % trace]
    outcome = run([*tool, *gzip.command])
    gzip.add(measures, "lackey", outcome, trace.stat().st_size)
    trace.unlink()


def chronicle(setting, measures, notes):
    gzip = Compressing(setting, RUN)
    gzip.add(measures, "chronicle", gzip.recorded, gzip.size)


def rr(setting, measures, notes):
    if not list(pathlib.Path("/sys/bus/event_source/devices").glob("cpu*")):
        raise BenchError("rr needs hardware performance counters, which this machine does not offer")
    if not shutil.which("rr"):
        raise BenchError("rr is missing; run utils/setup")
    gzip, trace = Compressing(setting, RUN), setting.place / "rr-trace"
    outcome = run(["rr", "record", "-o", trace, *gzip.command])
    gzip.add(measures, "rr", outcome, sum(path.stat().st_size for path in trace.iterdir()))
    shutil.rmtree(trace)


def measure(setting, measures, notes):
    """Measures one after the other in each repetition. An alternative that cannot run here is reported once."""
    left = {"chronicle": chronicle, "gdb record full": gdb_record, "lackey": lackey, "rr": rr}
    for _ in range(setting.repeat):
        for name, work in list(left.items()):
            try:
                work(setting, measures, notes)
            except (BenchError, subprocess.SubprocessError) as error:
                progress("%s was not measured: %s" % (name, error))
                notes.append("%s was not measured: %s" % (name, error))
                del left[name]
