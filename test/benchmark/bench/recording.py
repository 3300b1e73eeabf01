# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures recording against Valgrind alone, the size of the trace, the indexer's memory, and verification."""
import json

from .process import progress, run


class Recording:
    """A trace, and the summary of `chronicle record`."""

    def __init__(self, trace, summary, seconds):
        self.trace, self.summary, self.seconds = trace, summary, seconds

    @property
    def instructions(self):
        return self.summary["instructions"]


def record(setting, command, name):
    """Records a command into place/name.db."""
    trace, summary = setting.place / (name + ".db"), setting.place / (name + ".json")
    options = ["--quiet", "--force", "--summary", summary, "-o", trace]
    outcome = run([setting.chronicle, "record", *options, "--", *command])
    return outcome, Recording(trace, json.loads(summary.read_text()), outcome.seconds)


def against_valgrind(measures, name, native, alone, outcome, recording):
    """Adds the measures of one repetition; returns a sentence about them."""
    ratio, millions = outcome.seconds / alone.seconds, recording.instructions / 1e6
    measures.add("record/%s/ratio" % name, ratio, "x")
    measures.add("record/%s/cpu-ratio" % name, outcome.cpu_seconds / alone.cpu_seconds, "x")
    measures.add("record/%s/seconds" % name, outcome.seconds, "s")
    measures.add("record/%s/added" % name, (outcome.seconds - alone.seconds) * 1e3 / millions, "ns/instr")
    measures.add("none/%s/seconds" % name, alone.seconds, "s")
    measures.add("native/%s/seconds" % name, native.seconds, "s")
    measures.add("size/%s/bytes-per-instruction" % name, recording.summary["bytes-per-instruction"], "B")
    measures.add("memory/%s/indexer" % name, recording.summary["peak-indexer-kb"] / 1024, "MB")
    measures.add("memory/%s/program" % name, native.peak_kb / 1024, "MB")
    times = (native.seconds, alone.seconds, outcome.seconds, ratio)
    return "; native %.2f s, Valgrind %.2f s, recorded %.2f s (%.2fx)" % times


def measure(setting, measures, name, command):
    """Runs one repetition: natively, under Valgrind alone, recorded and verified, one right after the other.
    Keeps the recording for other measurements."""
    compared = setting.wants("record") or setting.wants("length")
    if compared:
        native = run(command)
        alone = run([setting.valgrind, "--tool=none", "-q", *command])
    outcome, recording = record(setting, command, name)
    measures.add("size/%s/instructions" % name, recording.instructions, "")
    sentence = "%s: %.0f M instructions" % (name, recording.instructions / 1e6)
    if compared:
        sentence += against_valgrind(measures, name, native, alone, outcome, recording)
    if setting.wants("verify"):
        verified = run([setting.chronicle, "verify", recording.trace])
        measures.add("verify/%s/ratio" % name, verified.seconds / outcome.seconds, "x")
        measures.add("verify/%s/seconds" % name, verified.seconds, "s")
        measures.add("verify/%s/per-instruction" % name, verified.seconds * 1e9 / recording.instructions, "ns")
        measures.add("verify/%s/peak" % name, verified.peak_kb / 1024, "MB")
        sentence += ", verified %.2f s" % verified.seconds
    progress(sentence)
    return recording
