# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies the JSON of `chronicle verify` from standard input to standard output, sorted,
without what depends on the clock or on how many threads verified."""
import json
import sys


def clean(value):
    if isinstance(value, dict):
        return {
            key: clean(item)
            for key, item in value.items()
            if "second" not in key and key not in ("threads", "workers")
        }
    if isinstance(value, list):
        return [clean(item) for item in value]
    return value


json.dump(clean(json.load(sys.stdin)), sys.stdout, indent=1, sort_keys=True)
