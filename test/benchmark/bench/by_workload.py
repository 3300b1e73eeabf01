# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table with one line per workload. A value that misses its must is bold."""
from . import lengths, markdown
from .queries import KINDS
from .samples import geometric_mean, percentile
from .table import LATENCIES


def cell(value, must=None):
    text = markdown.number(value)
    return "**%s**" % text if value is not None and must is not None and value > must else text


class Column:
    """The median of a measure for each workload, times a factor. It may have a must."""

    def __init__(self, title, group, measure, must=None, factor=1):
        self.title, self.group, self.measure, self.must, self.factor = title, group, measure, must, factor

    def value(self, measures, workload):
        name = "%s/%s/%s" % (self.group, workload, self.measure)
        return measures.median(name) * self.factor if measures.has(name) else None

    def cell(self, measures, workload):
        return cell(self.value(measures, workload), self.must)


class Latency(Column):
    """p50 and p99 of a kind of question."""

    def __init__(self, kind):
        super().__init__(kind, "query", kind, LATENCIES[kind][0])
        self.last = LATENCIES[kind][2]

    def cell(self, measures, workload):
        name = "query/%s/%s" % (workload, self.measure)
        if not measures.has(name):
            return cell(None)
        return "%s / %s" % (super().cell(measures, workload), cell(percentile(measures.samples(name), 99), self.last))


COLUMNS = [
    Column("G instr", "size", "instructions", factor=1e-9),
    Column("Valgrind s", "none", "seconds"),
    Column("native s", "native", "seconds"),
    Column("record x", "record", "ratio", 2.3),
    Column("again x", "warm", "ratio"),
    Column("again of native", "warm", "native-ratio"),
    Column("verify x", "verify", "ratio", 3),
    Column("B/instr", "size", "bytes-per-instruction"),
    Column("indexer MB", "memory", "indexer"),
    Column("open ms", "query", "open", 300),
    *(Latency(kind) for kind in KINDS),
]


def render(measures):
    """The table as text, which is empty if no workload was measured."""
    workloads = [name for name in measures.matching("size", "instructions") if not name.endswith(lengths.SHORT)]
    columns = [column for column in COLUMNS if any(column.value(measures, name) is not None for name in workloads)]
    if not workloads:
        return ""
    lines = [["", *(column.title for column in columns)]]
    lines += [[name, *(column.cell(measures, name) for column in columns)] for name in workloads]
    if len(workloads) > 1:
        means = []
        for column in columns:
            values = [column.value(measures, name) for name in workloads]
            means.append(cell(geometric_mean(values)) if all(value for value in values) else "")
        lines.append(["geometric mean", *means])
    return markdown.render(lines)
