# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies JSON from standard input to standard output, sorted, without what depends on
the clock or the number of workers."""
import json
import sys


def clean(value):
    if isinstance(value, dict):
        return {
            key: clean(item)
            for key, item in value.items()
            if "second" not in key and key not in ("workers", "jobs")
        }
    if isinstance(value, list):
        return [clean(item) for item in value]
    return value


json.dump(clean(json.load(sys.stdin)), sys.stdout, indent=1, sort_keys=True)
