# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures recording against Valgrind alone, the size of the trace, the indexer's memory, and verification."""
import json
import shutil

from .process import progress, run


class Recording:
    """A trace, and the summary of `chronicle record`."""

    def __init__(self, trace, summary, seconds):
        self.trace, self.summary, self.seconds = trace, summary, seconds

    @property
    def instructions(self):
        return self.summary["instructions"]


def cache_of(setting, name):
    """The translation cache for the recordings of that name."""
    return setting.place / (name + "-translations")


def record(setting, command, name, cache=None):
    """Records a command into place/name.db, with an empty translation cache unless another setting is given."""
    trace, summary = setting.place / (name + ".db"), setting.place / (name + ".json")
    if cache is None:
        cache = cache_of(setting, name)
        shutil.rmtree(cache, ignore_errors=True)
    options = ["--quiet", "--force", "--cache", cache, "--summary", summary, "-o", trace]
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


def again(setting, measures, name, command, native, alone, first):
    """Records once more without a cache and once more with the one that the first recording has filled. Returns a
    sentence about it."""
    without, _ = record(setting, command, name + "-again", "off")
    warm, recording = record(setting, command, name + "-again", cache_of(setting, name))
    recording.trace.unlink()
    needed, stored = recording.summary["translations"], recording.summary["stored-translations"]
    measures.add("warm/%s/ratio" % name, warm.seconds / alone.seconds, "x")
    measures.add("warm/%s/cpu-ratio" % name, warm.cpu_seconds / alone.cpu_seconds, "x")
    measures.add("warm/%s/native-ratio" % name, warm.seconds / native.seconds, "x")
    measures.add("warm/%s/first" % name, first.seconds / without.seconds, "x")
    measures.add("warm/%s/first-cpu" % name, first.cpu_seconds / without.cpu_seconds, "x")
    measures.add("warm/%s/translated" % name, needed - stored, "")
    return ", again %.2f s (%.2fx)" % (warm.seconds, warm.seconds / alone.seconds)


def measure(setting, measures, name, command, short=False):
    """Runs one repetition: natively, under Valgrind alone, recorded, recorded again and verified, one right after the
    other. Keeps the first recording for other measurements."""
    warm = setting.wants("warm") and not short
    compared = setting.wants("record") or setting.wants("length") or warm
    if compared:
        native = run(command)
        alone = run([setting.valgrind, "--tool=none", "-q", *command])
    outcome, recording = record(setting, command, name)
    measures.add("size/%s/instructions" % name, recording.instructions, "")
    sentence = "%s: %.0f M instructions" % (name, recording.instructions / 1e6)
    if compared:
        sentence += against_valgrind(measures, name, native, alone, outcome, recording)
    if warm:
        sentence += again(setting, measures, name, command, native, alone, outcome)
    shutil.rmtree(cache_of(setting, name), ignore_errors=True)
    if setting.wants("verify"):
        verified = run([setting.chronicle, "verify", recording.trace])
        measures.add("verify/%s/ratio" % name, verified.seconds / outcome.seconds, "x")
        measures.add("verify/%s/seconds" % name, verified.seconds, "s")
        measures.add("verify/%s/per-instruction" % name, verified.seconds * 1e9 / recording.instructions, "ns")
        measures.add("verify/%s/peak" % name, verified.peak_kb / 1024, "MB")
        sentence += ", verified %.2f s" % verified.seconds
    progress(sentence)
    return recording
