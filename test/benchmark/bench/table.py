# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What must hold, what would be better, and what was measured."""
from .queries import KINDS
from .samples import geometric_mean, percentile
from .stepping import STEPS

# A database is judged by runs of at least this many instructions.
LONG_RUN = 3e9
ALLOWANCE_MB = 256


class Row:
    """A line of the table. A verdict is 'goal', 'pass', 'miss', 'info' (nothing is asked of it) or 'none'
    (not measured here)."""

    def __init__(self, what, unit, value=None, must=None, goal=None, detail=""):
        self.what, self.unit, self.value = what, unit, value
        self.must, self.goal, self.detail = must, goal, detail

    @property
    def verdict(self):
        if self.value is None:
            return "none"
        if self.must is None and self.goal is None:
            return "info"
        if self.goal is not None and self.value <= self.goal:
            return "goal"
        return "pass" if self.must is None or self.value <= self.must else "miss"

    def as_json(self):
        names = ("what", "unit", "value", "must", "goal", "verdict", "detail")
        return {name: getattr(self, name) for name in names}


def main_only(values):
    """Without the shorter runs that only show what length does."""
    return {name: value for name, value in values.items() if not name.endswith("-short")}


def worst(values):
    name = max(values, key=values.get)
    return values[name], name


def record_rows(measures):
    ratios = main_only(measures.matching("record", "ratio"))
    if not ratios:
        return [Row("record, geometric mean", "x", None, 2.0, 1.5), Row("record, worst", "x", None, 3.0)]
    value, name = worst(ratios)
    processors = geometric_mean(main_only(measures.matching("record", "cpu-ratio")).values())
    return [
        Row("record, geometric mean", "x", geometric_mean(ratios.values()), 2.0, 1.5, "of valgrind --tool=none; processor time %.2fx" % processors),
        Row("record, worst", "x", value, 3.0, None, name),
    ]


def size_rows(measures):
    sizes = main_only(measures.matching("size", "bytes-per-instruction"))
    lengths = measures.matching("size", "instructions")
    if not sizes:
        return [Row("database", "B/instr", None, 0.10, 0.064)]
    enough = {name: size for name, size in sizes.items() if lengths[name] >= LONG_RUN}
    if enough:
        value, name = worst(enough)
        return [Row("database, geometric mean", "B/instr", geometric_mean(enough.values()), 0.10, 0.064, "worst %s %.3f" % (name, value))]
    mean = geometric_mean(sizes.values())
    return [Row("database", "B/instr", None, 0.10, 0.064, "%.3f, but no run had 3 G instructions" % mean)]


def memory_rows(measures):
    programs, indexers = (main_only(measures.matching("memory", what)) for what in ("program", "indexer"))
    if not indexers:
        return [Row("indexer memory, of what it may use", "x", None, 1.0, 1.0)]
    shares = {name: indexers[name] / (4 * programs[name] + ALLOWANCE_MB) for name in indexers}
    value, name = worst(shares)
    twice, _ = worst({name: indexers[name] / (2 * programs[name] + ALLOWANCE_MB) for name in indexers})
    detail = "%s: %.0f MB, program %.0f MB; of 2x + 256 MB: %.2f" % (name, indexers[name], programs[name], twice)
    return [Row("indexer memory, of 4x the program's + 256 MB", "x", value, 1.0, 1.0 if twice <= 1 else 0, detail)]


# must and goal of p50, must of p99, in ms.
LATENCIES = {
    "registers": (3, 1, 20),
    "memory": (2, None, 20),
    "last-write": (5, 2, 50),
    "next-write": (5, 2, 50),
    "last-execution": (2, None, 50),
    "call-stack": (5, None, 50),
}


def query_rows(measures):
    rows = []
    opened = main_only(measures.matching("query", "open"))
    detail = ""
    if opened:
        detail = "p50 of the worst workload: %s" % worst(opened)[1]
    rows.append(Row("open and first answer", "ms", worst(opened)[0] if opened else None, 300, 100, detail))
    for kind in KINDS:
        must, goal, last = LATENCIES[kind]
        medians = main_only(measures.matching("query", kind))
        if not medians:
            rows += [Row(kind + ", p50", "ms", None, must, goal), Row(kind + ", p99", "ms", None, last)]
            continue
        tails = {name: percentile(measures.samples("query/%s/%s" % (name, kind)), 99) for name in medians}
        value, name = worst(medians)
        others = [main_only(measures.matching(*names)) for names in (("query", kind + "-cpu"), ("session", kind))]
        means = [geometric_mean(values.values()) for values in (medians, *others)]
        detail = "%s; geometric mean %.2f, processor time %.2f, in a session %.2f" % (name, *means)
        rows.append(Row(kind + ", p50", "ms", value, must, goal, detail))
        rows.append(Row(kind + ", p99", "ms", *worst(tails)[:1], last, None, worst(tails)[1]))
    return rows


def step_rows(measures):
    rows = []
    for kind, _, forward, _ in STEPS:
        names = ["step/%s/%s" % (label, kind) for label in ("trace", "live")]
        value, detail = None, ""
        if all(measures.has(name) for name in names):
            backward, live = (measures.median(name) for name in names)
            value, detail = backward / live, "%.1f ms; live %s %.1f ms" % (backward, forward.split()[-1], live)
        rows.append(Row(kind + " in LLDB", "x", value, 3, 1, detail))
    return rows


def length_rows(measures):
    """Each measure at ten times the length, against itself."""
    ratios = {}
    pairs = [("query", kind) for kind in ["open", *KINDS]]
    pairs += [("record", "ratio"), ("size", "bytes-per-instruction"), ("memory", "indexer")]
    for group, what in pairs:
        medians = measures.matching(group, what)
        both = [medians[name] / medians[name + "-short"] for name in medians if name + "-short" in medians]
        if both:
            ratios["%s %s" % (group, what)] = geometric_mean(both)
    for kind, _, _, _ in STEPS:
        names = ["step/%s/%s" % (label, kind) for label in ("trace-10x", "trace")]
        if all(measures.has(name) for name in names):
            ratios[kind] = measures.median(names[0]) / measures.median(names[1])
    if not ratios:
        return [Row("at ten times the length, worst", "x", None, 1.5, 1.0)]
    value, name = worst(ratios)
    rest = ", ".join("%s %.2f" % item for item in sorted(ratios.items(), key=lambda item: -item[1])[1:5])
    return [Row("at ten times the length, worst", "x", value, 1.5, 1.0, "%s; then %s" % (name, rest))]


def verify_rows(measures):
    ratios = main_only(measures.matching("verify", "ratio"))
    if not ratios:
        return [Row("verify, of recording", "x", None, 3, 1)]
    value, name = worst(ratios)
    return [
        Row("verify, geometric mean", "x", geometric_mean(ratios.values()), 3, 1, "of chronicle record"),
        Row("verify, worst", "x", value, 3, 1, name),
    ]


INSTEAD = [
    ("gdb-record/ns-per-instruction", "instead: gdb record full", "ns/instr"),
    ("lackey/ratio", "instead: lackey --trace-mem=yes", "x"),
    ("lackey/bytes-per-instruction", "instead: lackey's output", "B/instr"),
    ("rr/ratio", "instead: rr record", "x"),
    ("chronicle/ns-per-instruction", "chronicle on the same", "ns/instr"),
    ("chronicle/ratio", "chronicle on the same", "x"),
]


def instead_rows(measures):
    names = [("instead/" + name, what, unit) for name, what, unit in INSTEAD]
    return [Row(what, unit, measures.median(name)) for name, what, unit in names if measures.has(name)]


def micro_rows(measures):
    micro = measures.matching("micro", "ns")
    return [Row("micro: " + name, "ns", value) for name, value in micro.items()]


PARTS = {
    "record": [record_rows, size_rows, memory_rows],
    "query": [query_rows],
    "step": [step_rows],
    "length": [length_rows],
    "verify": [verify_rows],
    "instead": [instead_rows],
    "micro": [micro_rows],
}


def rows(measures, parts):
    return [row for part in PARTS if part in parts for make in PARTS[part] for row in make(measures)]


def number(value):
    return "–" if value is None else "%.3g" % value


def render(table):
    """As Markdown, so that it can go into a document as it is."""
    lines = [["what", "unit", "measured", "must", "goal", "", "detail"]]
    for row in table:
        verdict = "" if row.verdict in ("info", "none") else row.verdict
        cells = [row.what, row.unit, number(row.value)]
        cells += ["" if bound is None else "≤ " + number(bound) for bound in (row.must, row.goal)]
        lines.append([*cells, verdict, row.detail])
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines)
