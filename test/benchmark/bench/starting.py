# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures what every recording costs, by a program that does nothing."""
from .process import progress, run
from .recording import cache_of, record
from .workloads import program

# A single start takes a fraction of a second.
STARTS = 5


def measure(setting, measures):
    """Each repetition starts the program in turn under Valgrind alone, recorded for the first time, and again."""
    command = [program("true")]
    for _ in range(setting.repeat):
        seconds = {"alone": [], "first": [], "again": []}
        for _ in range(STARTS):
            seconds["alone"].append(run([setting.valgrind, "--tool=none", "-q", *command]).seconds)
            outcome, recording = record(setting, command, "start")
            seconds["first"].append(outcome.seconds)
            outcome, recording = record(setting, command, "start", cache_of(setting, "start"))
            seconds["again"].append(outcome.seconds)
        alone = sorted(seconds["alone"])[STARTS // 2]
        measures.add_many("start/true/ratio", [each / alone for each in seconds["again"]], "x")
        measures.add_many("start/true/first", [each / alone for each in seconds["first"]], "x")
        measures.add("start/true/size", recording.trace.stat().st_size / 1e3, "kB")
        progress(
            "true: Valgrind %.3f s, recorded %.3f s, again %.3f s, %.0f kB"
            % (*(sorted(each)[STARTS // 2] for each in seconds.values()), recording.trace.stat().st_size / 1e3)
        )
        recording.trace.unlink()
