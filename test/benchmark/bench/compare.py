# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the measures that moved since an earlier run by more than the spread of either run."""

# A smaller change is not reported, however steady the samples are.
SMALLEST = 0.03


def spread(entry):
    """The smallest and the largest median of the repetitions. For a single repetition, the range of the middle half
    of its samples, or of all if there are few."""
    if len(entry["repetitions"]) > 1:
        return entry["low"], entry["high"]
    ordered = sorted(entry["repetitions"][0])
    cut = len(ordered) // 4 if len(ordered) >= 8 else 0
    return ordered[cut], ordered[-1 - cut]


def moved(before, now):
    """The ratio of now to before, or 1 if their spreads overlap."""
    if not before["median"]:
        return 1
    ratio = now["median"] / before["median"]
    (low_before, high_before), (low_now, high_now) = spread(before), spread(now)
    apart = low_now > high_before or high_now < low_before
    return ratio if apart and abs(ratio - 1) >= SMALLEST else 1


def compare(before, now):
    """Compares the measures of two files. Returns lines that say what is worse, better, new and gone, the worst first."""
    ratios = {name: moved(before[name], now[name]) for name in now if name in before}
    changed = {name: ratio for name, ratio in ratios.items() if ratio != 1}
    lines = []
    for name, ratio in sorted(changed.items(), key=lambda item: -item[1]):
        values = "%.4g -> %.4g %s" % (before[name]["median"], now[name]["median"], now[name]["unit"])
        lines.append("%s %.2fx %s: %s" % ("worse" if ratio > 1 else "better", ratio, name, values.strip()))
    verdict = "%d moved" % len(changed) if changed else "all within their spread"
    lines.append("%d measures compared, %s" % (len(ratios), verdict))
    for word, names in (("new", set(now) - set(before)), ("not measured now", set(before) - set(now))):
        if names:
            lines.append("%d %s" % (len(names), word))
    return lines


def different_settings(before, now):
    """Sentences that say what makes two results hard to compare."""
    sentences = []
    if before["size"] != now["size"]:
        sentences.append("the lengths of the runs differ: --size %s then, %s now" % (before["size"], now["size"]))
    for what in ("model", "processors"):
        if before["machine"][what] != now["machine"][what]:
            sentences.append("the machines differ: %s then, %s now" % (before["machine"][what], now["machine"][what]))
    return sentences
