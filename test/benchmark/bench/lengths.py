# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares a run with one a tenth as long, to show what length costs.

Only searches that found an instruction count: in a short run more searches find nothing, which is known at once. For
recording, the measure is the time that it adds to Valgrind's own, because starting Valgrind is most of a short run. For
verifying, it is the time per instruction, because the ratio to recording would also contain Valgrind's start."""
from . import markdown
from .queries import KINDS, SEARCHES
from .samples import geometric_mean, percentile
from .stepping import STEPS

# The suffix of the names of the shorter runs.
SHORT = "-short"

# With fewer answers the median means little.
ENOUGH = 5

# What is compared, and the measure for it.
COMPARED = {"open and first answer": ("query", "open")}
COMPARED.update({kind: ("query", kind + "-found" if kind in SEARCHES else kind) for kind in KINDS})
COMPARED["record, added to Valgrind's"] = ("record", "added")
COMPARED["verify, per instruction"] = ("verify", "per-instruction")
COMPARED["database, per instruction"] = ("size", "bytes-per-instruction")
COMPARED["indexer memory"] = ("memory", "indexer")


def pairs(measures, group, measure):
    """{workload: names of the measure in the long and in the short run}, if both have enough samples."""
    found = {}
    for workload in measures.matching(group, measure):
        names = ["%s/%s%s/%s" % (group, workload, suffix, measure) for suffix in ("", SHORT)]
        least = ENOUGH if group == "query" else 1
        if all(measures.has(name) and len(measures.samples(name)) >= least for name in names):
            found[workload] = names
    return found


def ratios(measures):
    """{what: {workload: ratio of the medians, long to short}}."""
    found = {}
    for what, (group, measure) in COMPARED.items():
        medians = {workload: [measures.median(name) for name in names] for workload, names in pairs(measures, group, measure).items()}
        # On a busy machine recording may seem to add no time.
        found[what] = {workload: long / short for workload, (long, short) in medians.items() if long > 0 and short > 0}
    for kind, _, _, _ in STEPS:
        names = ["step/%s/%s" % (label, kind) for label in ("trace-10x", "trace")]
        if all(measures.has(name) for name in names):
            found[kind + " in LLDB"] = {"map": measures.median(names[0]) / measures.median(names[1])}
    return {what: by_name for what, by_name in found.items() if by_name}


def tail(measures, what):
    """The same ratio for the 99th percentiles of questions, as the mean over workloads."""
    group, measure = COMPARED.get(what, (None, None))
    if group != "query":
        return None
    ends = [[percentile(measures.samples(name), 99) for name in names] for names in pairs(measures, group, measure).values()]
    return geometric_mean(long / short for long, short in ends)


def render(measures):
    """A table of what grows with length, the largest growth first. It is empty if nothing was measured."""
    found = ratios(measures)
    if not found:
        return ""
    lines = [["at ten times the length", "geometric mean", "most", "", "p99, geometric mean"]]
    for what, by_name in sorted(found.items(), key=lambda item: -geometric_mean(item[1].values())):
        most, end = max(by_name, key=by_name.get), tail(measures, what)
        shown = ["%.2f" % value for value in (geometric_mean(by_name.values()), by_name[most])]
        lines.append([what, *shown, most, "" if end is None else "%.2f" % end])
    lines += [[what, "–", "–", "not compared", ""] for what in COMPARED if what not in found]
    return markdown.render(lines)
