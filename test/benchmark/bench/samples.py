# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers that were measured several times, and what they amount to."""
import math
import statistics


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(math.log(value) for value in values) / len(values))


def percentile(values, percent):
    """The smallest value that at least so many percent of all are not above."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


class Measures:
    """Everything measured, by name: 'record/gzip/ratio' -> samples and their unit.

    Lower is better for all of them."""

    def __init__(self):
        self.by_name = {}

    def add(self, name, value, unit):
        self.by_name.setdefault(name, {"unit": unit, "samples": []})["samples"].append(value)

    def has(self, name):
        return name in self.by_name

    def samples(self, name):
        return self.by_name[name]["samples"]

    def median(self, name):
        return statistics.median(self.samples(name))

    def matching(self, prefix, suffix):
        """{middle: median} of the names 'prefix/middle/suffix'."""
        found = {}
        for name in self.by_name:
            parts = name.split("/")
            if len(parts) == 3 and parts[0] == prefix and parts[2] == suffix:
                found[parts[1]] = self.median(name)
        return found

    def as_json(self):
        return {
            name: {
                "unit": entry["unit"],
                "median": statistics.median(entry["samples"]),
                "low": min(entry["samples"]),
                "high": max(entry["samples"]),
                "samples": entry["samples"],
            }
            for name, entry in self.by_name.items()
        }
