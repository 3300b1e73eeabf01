# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What somebody would use instead, where it can run: gdb record full, Valgrind's lackey, rr. All by the time
that an instruction takes more than without them, for gdb cannot go as far as the others."""
import pathlib
import shutil
import subprocess

from .process import BenchError, progress, run
from .recording import record
from .workloads import Gzip, Map, program

# How long runs may be, in instructions: lackey takes a minute for its.
LACKEY_RUN, RUN = 20e6, 300e6


def gdb(setting, commands):
    """Runs gdb with commands on a short run of the stepping program; how long, and what it said."""
    binary = Map().build(setting.place, ["-std=c++17", "-O0"], "-steps")
    said = setting.place / "gdb-said"
    texts = ["set pagination off", "set confirm off", "break day", "run", *commands]
    arguments = [argument for text in texts for argument in ("-ex", text)]
    with open(said, "wb") as out:
        outcome = run([program("gdb"), "-q", "-nx", "-batch", *arguments, "--args", binary, 20], stdout=out)
    return outcome, said.read_text(errors="replace")


def gdb_record(setting, measures, notes):
    """gdb steps through every instruction, so it gets one call of a function."""
    start, _ = gdb(setting, [])
    limit = "set record full insn-number-max unlimited"
    whole, said = gdb(setting, [limit, "record full", "finish", "info record"])
    counts = [line.split()[2] for line in said.splitlines() if line.startswith("Log contains ")]
    if not counts:
        raise BenchError("gdb said: %s" % said.strip().splitlines()[-1])
    each = max(1e-9, whole.seconds - start.seconds) / int(counts[0]) * 1e9
    measures.add("instead/gdb-record/ns-per-instruction", each, "ns")
    if "Program stopped." in said:
        note = "gdb record full: after %s instructions it met one that it does not know" % counts[0]
        if note not in notes:
            notes.append(note)
    progress("gdb record full: %s instructions at %.0f ns each" % (counts[0], each))


class Compressing:
    """gzip for about so many instructions: what it takes alone and recorded, so that what another tool adds
    can be said of an instruction."""

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
        progress("%s: %.3g ns and %.3g bytes an instruction" % (name, nanoseconds, size / self.instructions))


def lackey(setting, measures, notes):
    """All memory accesses as text."""
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
        raise BenchError("this machine offers no hardware performance counters, which rr needs")
    if not shutil.which("rr"):
        raise BenchError("rr is missing; utils/setup installs it")
    gzip, trace = Compressing(setting, RUN), setting.place / "rr-trace"
    outcome = run(["rr", "record", "-o", trace, *gzip.command])
    gzip.add(measures, "rr", outcome, sum(path.stat().st_size for path in trace.iterdir()))
    shutil.rmtree(trace)


def measure(setting, measures, notes):
    """One after the other, again and again; what cannot run here is told once."""
    left = {"chronicle": chronicle, "gdb record full": gdb_record, "lackey": lackey, "rr": rr}
    for _ in range(setting.repeat):
        for name, work in list(left.items()):
            try:
                work(setting, measures, notes)
            except (BenchError, subprocess.SubprocessError) as error:
                progress("%s was not measured: %s" % (name, error))
                notes.append("%s was not measured: %s" % (name, error))
                del left[name]
