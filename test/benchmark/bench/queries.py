# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the latencies of the query engine with the program query-latency."""
import json
import math

from .process import output_of, progress
from .samples import percentile

KINDS = ["registers", "memory", "last-write", "next-write", "last-execution", "call-stack"]
# These may find nothing. Measures with "-found" contain only those that found an instruction.
SEARCHES = ["last-write", "next-write", "last-execution"]


def measure(setting, measures, name, recording, repetition):
    """Everything is cold: query-latency opens the trace again for each question. Each repetition asks other questions."""
    samples = math.ceil(setting.samples / setting.repeat)
    command = [setting.query_latency, "--samples", samples, "--seed", repetition + 1, recording.trace]
    answer = json.loads(output_of(command))
    for way, prefix in (("cold", "query"), ("session", "session")):
        for kind, times in answer[way].items():
            base = "%s/%s/%s" % (prefix, name, kind)
            for clock, suffix in (("wall", ""), ("processor", "-cpu")):
                measures.add_many(base + suffix, [value * 1e3 for value in times[clock]], "ms")
            if kind in SEARCHES:
                found = [value * 1e3 for value, found in zip(times["wall"], times["found"]) if found]
                measures.add_many(base + "-found", found, "ms")
    kinds = ["open", *KINDS]
    shown = ["%s %.2f/%.1f" % (kind, *(percentile(answer["cold"][kind]["wall"], p) * 1e3 for p in (50, 99))) for kind in kinds]
    progress("%s: cold p50/p99 in ms: %s" % (name, ", ".join(shown)))
