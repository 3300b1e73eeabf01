# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What somebody would use instead, where it can run: gdb record full, Valgrind's lackey, rr."""
import pathlib
import shutil
import subprocess

from .process import BenchError, progress, run
from .recording import record
from .workloads import Gzip, Map, program


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
    """gdb steps through every instruction, so it gets one call; compared by time an instruction."""
    start, _ = gdb(setting, [])
    limit = "set record full insn-number-max unlimited"
    whole, said = gdb(setting, [limit, "record full", "finish", "info record"])
    counts = [line.split()[2] for line in said.splitlines() if line.startswith("Log contains ")]
    if not counts:
        raise BenchError("gdb said: %s" % said.strip().splitlines()[-1])
    each = max(1e-9, whole.seconds - start.seconds) / int(counts[0])
    measures.add("instead/gdb-record/ns-per-instruction", each * 1e9, "ns")
    if "Program stopped." in said:
        notes.append("gdb record full: after %s instructions it met one that it does not know" % counts[0])
    progress("gdb record full: %s instructions at %.0f ns each" % (counts[0], each * 1e9))


def lackey(setting, measures, notes):
    """All memory accesses as text; only counted, not kept."""
    command = Gzip().command(setting.place, Gzip().amount(min(setting.instructions, 100e6)))
    alone = run([setting.valgrind, "--tool=none", "-q", *command])
    trace = setting.place / "lackey"
    tool = [setting.valgrind, "--tool=lackey", "--trace-mem=yes", "--log-file=%s" % trace]
    outcome = run([*tool, *command])
    recorded, recording = record(setting, command, "instead")
    size = trace.stat().st_size / recording.instructions
    trace.unlink()
    recording.trace.unlink()
    measures.add("instead/lackey/ratio", outcome.seconds / alone.seconds, "x")
    measures.add("instead/lackey/bytes-per-instruction", size, "B")
    measures.add("instead/chronicle/ratio", recorded.seconds / alone.seconds, "x")
    measures.add("instead/chronicle/ns-per-instruction", recorded.seconds / recording.instructions * 1e9, "ns")
    progress(
        "lackey --trace-mem: %.0fx of Valgrind alone, %.1f bytes an instruction; chronicle %.2fx"
        % (outcome.seconds / alone.seconds, size, recorded.seconds / alone.seconds)
    )


def rr(setting, measures, notes):
    if not pathlib.Path("/sys/bus/event_source/devices/cpu").exists():
        raise BenchError("this machine offers no hardware performance counters, which rr needs")
    if not shutil.which("rr"):
        raise BenchError("rr is not installed; on Debian install rr")
    command = Gzip().command(setting.place, Gzip().amount(min(setting.instructions, 300e6)))
    alone = run([setting.valgrind, "--tool=none", "-q", *command])
    outcome = run(["rr", "record", "-o", setting.place / "rr-trace", *command])
    measures.add("instead/rr/ratio", outcome.seconds / alone.seconds, "x")


def measure(setting, measures, notes):
    for name, work in (("gdb record full", gdb_record), ("lackey", lackey), ("rr", rr)):
        try:
            work(setting, measures, notes)
        except (BenchError, subprocess.SubprocessError) as error:
            progress("%s was not measured: %s" % (name, error))
            notes.append("%s was not measured: %s" % (name, error))
