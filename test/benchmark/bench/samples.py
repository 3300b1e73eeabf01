# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers that were measured several times, and their statistics."""
import math
import statistics


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(math.log(value) for value in values) / len(values))


def percentile(values, percent):
    """The smallest value that is not exceeded by at least this percentage of the values."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


class Measures:
    """Everything measured, by name: 'record/gzip/ratio' -> the samples of each repetition, and their unit.

    Lower is better for all of them."""

    def __init__(self):
        self.by_name = {}

    def add(self, name, value, unit):
        """Adds the only sample of one repetition."""
        self.add_many(name, [value], unit)

    def add_many(self, name, values, unit):
        """Adds the samples of one repetition, if there are any."""
        if values:
            self.by_name.setdefault(name, {"unit": unit, "repetitions": []})["repetitions"].append(list(values))

    def has(self, name):
        return name in self.by_name

    def samples(self, name):
        """The samples of all repetitions."""
        return [value for samples in self.by_name[name]["repetitions"] for value in samples]

    def median(self, name):
        return statistics.median(self.samples(name))

    def repeated(self, name):
        """The median of each repetition. Their range is the spread."""
        return [statistics.median(samples) for samples in self.by_name[name]["repetitions"]]

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
                "median": self.median(name),
                "low": min(self.repeated(name)),
                "high": max(self.repeated(name)),
                "repetitions": entry["repetitions"],
            }
            for name, entry in self.by_name.items()
        }
