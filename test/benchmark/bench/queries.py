# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Latencies of the query engine, by the program query-latency."""
import json

from .process import output_of, progress
from .samples import percentile

KINDS = ["registers", "memory", "last-write", "next-write", "last-execution", "call-stack"]


def measure(setting, measures, name, recording):
    """Everything cold: query-latency opens the trace anew for each question."""
    command = [setting.query_latency, "--samples", setting.samples, recording.trace]
    answer = json.loads(output_of(command))
    for way, prefix in (("cold", "query"), ("session", "session")):
        for kind, times in answer[way].items():
            for clock, suffix in (("wall", ""), ("processor", "-cpu")):
                for value in times[clock]:
                    measures.add("%s/%s/%s%s" % (prefix, name, kind, suffix), value * 1e3, "ms")
    told = ["open", *KINDS]
    shown = ["%s %.2f/%.1f" % (kind, *(percentile(answer["cold"][kind]["wall"], p) * 1e3 for p in (50, 99))) for kind in told]
    progress("%s: cold p50/p99 in ms: %s" % (name, ", ".join(shown)))
