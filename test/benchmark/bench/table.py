# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of what must hold, what the goals are, and what was measured."""
from . import lengths, markdown
from .queries import KINDS
from .samples import geometric_mean, percentile
from .stepping import STEPS

# The size of a database and the time to open it are judged by runs of at least this many instructions.
LONG_RUN = 3e9
ALLOWANCE_MB = 256
# With fewer samples the 99th percentile is the largest sample.
ENOUGH_FOR_P99 = 100


class Row:
    """A line of the table. A verdict is 'goal', 'pass', 'miss', 'info' (there is no must and no goal) or 'none'
    (not measured here, or not in a way that allows a verdict)."""

    def __init__(self, what, unit, value=None, must=None, goal=None, detail="", repeated=(), judged=True):
        self.what, self.unit, self.value = what, unit, value
        self.must, self.goal, self.detail, self.judged = must, goal, detail, judged
        self.repeated = list(repeated)  # one value per repetition

    @property
    def verdict(self):
        if self.value is None or not self.judged:
            return "none"
        if self.must is None and self.goal is None:
            return "info"
        if self.goal is not None and self.value <= self.goal:
            return "goal"
        return "pass" if self.must is None or self.value <= self.must else "miss"

    def as_json(self):
        names = ("what", "unit", "value", "must", "goal", "verdict", "detail", "repeated")
        return {name: getattr(self, name) for name in names}

    def cells(self):
        verdict = "" if self.verdict in ("info", "none") else self.verdict
        spread = "%s–%s" % (markdown.number(min(self.repeated)), markdown.number(max(self.repeated))) if len(self.repeated) > 1 else ""
        bounds = ["" if bound is None else "≤ " + markdown.number(bound) for bound in (self.must, self.goal)]
        return [self.what, self.unit, markdown.number(self.value), spread, *bounds, verdict, self.detail]


def main_only(values):
    """Without the shorter runs, which are only for comparing lengths."""
    return {name: value for name, value in values.items() if not name.endswith(lengths.SHORT)}


def worst(values):
    name = max(values, key=values.get)
    return values[name], name


def mean_row(measures, what, group, measure, unit, must, goal, detail, among=None):
    """A row of the geometric mean over workloads, also per repetition."""
    values = main_only(measures.matching(group, measure))
    names = [name for name in values if among is None or name in among]
    repeated = [measures.repeated("%s/%s/%s" % (group, name, measure)) for name in names]
    means = [geometric_mean(each) for each in zip(*repeated)]
    return Row(what, unit, geometric_mean(values[name] for name in names), must, goal, detail, means)


def worst_row(measures, what, group, measure, unit, must, goal=None):
    """A row of the worst workload."""
    value, name = worst(main_only(measures.matching(group, measure)))
    return Row(what, unit, value, must, goal, name, measures.repeated("%s/%s/%s" % (group, name, measure)))


def record_rows(measures):
    processor = main_only(measures.matching("record", "cpu-ratio"))
    if not processor:
        return [Row("record, geometric mean", "x", None, 2.0, 1.5), Row("record, worst", "x", None, 2.3, 1.8)]
    detail = "of valgrind --tool=none; processor time %.2fx" % geometric_mean(processor.values())
    return [
        mean_row(measures, "record, geometric mean", "record", "ratio", "x", 2.0, 1.5, detail),
        worst_row(measures, "record, worst", "record", "ratio", "x", 2.3, 1.8),
    ]


# Must and goal of the second recording, of Valgrind alone, by the shortest and longest run that they are for.
WARM = [(1e8, 1e9, 0.7, 0.5), (3e9, 1e11, 1.4, 1.2)]
# Must and goal for programs with much code, and against the program alone; for runs of the first length.
MUCH_CODE, WARM_MUCH_CODE, WARM_NATIVE = ("cc1", "python3"), (0.5, 0.3), (8, 5)


def warm_rows(measures):
    """What translations that were kept are good for. A must holds for runs of a certain length."""
    ratios = main_only(measures.matching("warm", "ratio"))
    if not ratios:
        return [Row("second recording, geometric mean", "x", None)]
    length = geometric_mean(measures.median("size/%s/instructions" % name) for name in ratios)
    must, goal = next((bounds for low, high, *bounds in WARM if low <= length < high), (None, None))
    short = must == WARM[0][2]
    processor = geometric_mean(main_only(measures.matching("warm", "cpu-ratio")).values())
    detail = "of valgrind --tool=none; processor time %.2fx" % processor
    rows = [mean_row(measures, "second recording, geometric mean", "warm", "ratio", "x", must, goal, detail)]
    for name in MUCH_CODE:
        if name in ratios:
            bounds = WARM_MUCH_CODE if short else (None, None)
            rows.append(Row("second recording, " + name, "x", ratios[name], *bounds, repeated=measures.repeated("warm/%s/ratio" % name)))
    bounds = WARM_NATIVE if short else (None, None)
    rows.append(mean_row(measures, "second recording, of the program alone", "warm", "native-ratio", "x", *bounds, "geometric mean"))
    processor = geometric_mean(main_only(measures.matching("warm", "first-cpu")).values())
    detail = "of one without a cache, geometric mean; processor time %.2fx" % processor
    rows.append(mean_row(measures, "first recording", "warm", "first", "x", 1.03, None, detail))
    return rows


def start_rows(measures):
    if not measures.has("start/true/ratio"):
        return [Row("/bin/true, second recording", "x", None, 1.0, 0.7), Row("/bin/true, trace", "kB", None, 300, 100)]
    detail = "of valgrind --tool=none; first recording %.2fx" % measures.median("start/true/first")
    return [
        Row("/bin/true, second recording", "x", measures.median("start/true/ratio"), 1.0, 0.7, detail, measures.repeated("start/true/ratio")),
        Row("/bin/true, trace", "kB", measures.median("start/true/size"), 300, 100, repeated=measures.repeated("start/true/size")),
    ]


def long_enough(measures):
    return [name for name, length in main_only(measures.matching("size", "instructions")).items() if length >= LONG_RUN]


def size_rows(measures):
    sizes = main_only(measures.matching("size", "bytes-per-instruction"))
    if not sizes:
        return [Row("database", "B/instr", None, 0.10, 0.064)]
    enough = [name for name in long_enough(measures) if name in sizes]
    value, name = worst({name: sizes[name] for name in enough or sizes})
    detail = "worst %s %.3f" % (name, value) if enough else "not judged: no run had 3 G instructions"
    row = mean_row(measures, "database, geometric mean", "size", "bytes-per-instruction", "B/instr", 0.10, 0.064, detail, enough or None)
    row.judged = bool(enough)
    return [row]


def memory_rows(measures):
    programs, indexers = (main_only(measures.matching("memory", what)) for what in ("program", "indexer"))
    if not indexers:
        return [Row("indexer memory, of what it may use", "x", None, 1.0, 1.0)]
    shares = {name: indexers[name] / (4 * programs[name] + ALLOWANCE_MB) for name in indexers}
    value, name = worst(shares)
    twice, _ = worst({name: indexers[name] / (2 * programs[name] + ALLOWANCE_MB) for name in indexers})
    detail = "%s: %.0f MB, program %.0f MB; of 2x + 256 MB: %.2f" % (name, indexers[name], programs[name], twice)
    return [Row("indexer memory, of 4x the program's + 256 MB", "x", value, 1.0, 1.0 if twice <= 1 else 0, detail)]


# Must and goal of p50, must of p99, in ms.
LATENCIES = {
    "registers": (3, 1, 20),
    "memory": (2, None, 20),
    "last-write": (5, 2, 50),
    "next-write": (5, 2, 50),
    "last-execution": (2, None, 50),
    "call-stack": (5, None, 50),
}


def open_row(measures):
    opened = main_only(measures.matching("query", "open"))
    if not opened:
        return Row("open and first answer", "ms", None, 300, 100)
    enough = [name for name in long_enough(measures) if name in opened]
    value, name = worst({name: opened[name] for name in enough or opened})
    length = measures.median("size/%s/instructions" % name)
    detail = "p50 of the worst workload: %s, %.1f G instructions" % (name, length / 1e9)
    if not enough:
        detail += "; not judged: none had 3 G"
    return Row("open and first answer", "ms", value, 300, 100, detail, measures.repeated("query/%s/open" % name), bool(enough))


def latency_rows(measures, kind):
    must, goal, last = LATENCIES[kind]
    medians = main_only(measures.matching("query", kind))
    if not medians:
        return [Row(kind + ", p50", "ms", None, must, goal), Row(kind + ", p99", "ms", None, last)]
    others = [main_only(measures.matching(*names)) for names in (("query", kind + "-cpu"), ("session", kind))]
    means = [geometric_mean(values.values()) for values in (medians, *others)]
    first = worst_row(measures, kind + ", p50", "query", kind, "ms", must, goal)
    first.detail += "; geometric mean %.2f, processor time %.2f, in a session %.2f" % tuple(means)
    samples = {name: measures.samples("query/%s/%s" % (name, kind)) for name in medians}
    value, name = worst({name: percentile(values, 99) for name, values in samples.items()})
    count = len(samples[name])
    detail = "%s; %s" % (name, "of %d" % count if count >= ENOUGH_FOR_P99 else "the largest of %d" % count)
    return [first, Row(kind + ", p99", "ms", value, last, None, detail)]


def query_rows(measures):
    return [open_row(measures), *(row for kind in KINDS for row in latency_rows(measures, kind))]


def step_rows(measures):
    rows = []
    for kind, _, forward, _ in STEPS:
        names = ["step/%s/%s" % (label, kind) for label in ("trace", "live")]
        if not all(measures.has(name) for name in names):
            rows.append(Row(kind + " in LLDB", "x", None, 3, 1))
            continue
        backward, live = (measures.median(name) for name in names)
        repeated = [trace / alive for trace, alive in zip(*(measures.repeated(name) for name in names))]
        detail = "%.1f ms; live %s %.1f ms" % (backward, forward.split()[-1], live)
        rows.append(Row(kind + " in LLDB", "x", backward / live, 3, 1, detail, repeated))
    return rows


def length_rows(measures):
    ratios = {what: geometric_mean(by_name.values()) for what, by_name in lengths.ratios(measures).items()}
    if not ratios:
        return [Row("at ten times the length, worst", "x", None, 1.5, 1.0)]
    value, name = worst(ratios)
    return [Row("at ten times the length, worst", "x", value, 1.5, 1.0, "%s; see below" % name)]


def verify_rows(measures):
    if not main_only(measures.matching("verify", "ratio")):
        return [Row("verify, of recording", "x", None, 3, 1)]
    return [
        mean_row(measures, "verify, geometric mean", "verify", "ratio", "x", 3, 1, "of chronicle record"),
        worst_row(measures, "verify, worst", "verify", "ratio", "x", 3, 1),
    ]


INSTEAD = {
    "gdb-record": "instead: gdb record full",
    "lackey": "instead: lackey --trace-mem=yes",
    "rr": "instead: rr record",
    "chronicle": "chronicle record, for comparison",
}


def instead_rows(measures):
    """The time per instruction of each alternative and, if it writes a file, the bytes per instruction."""
    rows = []
    for name, what in INSTEAD.items():
        for measure, unit in (("ns-per-instruction", "ns/instr"), ("bytes-per-instruction", "B/instr")):
            full = "instead/%s/%s" % (name, measure)
            if measures.has(full):
                rows.append(Row(what, unit, measures.median(full), repeated=measures.repeated(full)))
    return rows


def micro_rows(measures):
    names = measures.matching("micro", "ns")
    return [Row("micro: " + name, "ns", value, repeated=measures.repeated("micro/%s/ns" % name)) for name, value in sorted(names.items())]


PARTS = {
    "record": [record_rows, size_rows, memory_rows],
    "warm": [warm_rows],
    "start": [start_rows],
    "query": [query_rows],
    "step": [step_rows],
    "length": [length_rows],
    "verify": [verify_rows],
    "instead": [instead_rows],
    "micro": [micro_rows],
}


def rows(measures, parts):
    return [row for part in PARTS if part in parts for make in PARTS[part] for row in make(measures)]


def render(table):
    head = ["what", "unit", "measured", "spread", "must", "goal", "", "detail"]
    return markdown.render([head, *(row.cells() for row in table)])
