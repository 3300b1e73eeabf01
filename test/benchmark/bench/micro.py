# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the micro-benchmarks (Google Benchmark) of encoders, indexer and replayer."""
import json

from .process import BenchError, output_of, progress


def measure(setting, measures):
    progress("micro-benchmarks")
    command = [
        setting.micro,
        "--benchmark_format=json",
        "--benchmark_repetitions=%d" % max(3, setting.repeat),
        # The repetitions of all benchmarks alternate.
        "--benchmark_enable_random_interleaving=true",
        "--benchmark_min_time=%g" % (0.01 if setting.quick else 0.2),
    ]
    for result in json.loads(output_of(command))["benchmarks"]:
        if result.get("error_occurred"):
            raise BenchError("%s: %s" % (result["name"], result["error_message"]))
        if result["run_type"] == "iteration":
            # Each benchmark counts the items it processes; the measure is the time per item.
            each = 1e9 / result["items_per_second"]
            measures.add("micro/%s/ns" % result["run_name"].split("/")[0], each, "ns")
