# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""shape.py RESULT: checks what utils/bench --json wrote: everything asked for is there and adds up."""
import json
import sys

with open(sys.argv[1]) as file:
    result = json.load(file)
measures, rows = result["measures"], {row["what"]: row for row in result["rows"]}
kinds = ["registers", "memory", "last-write", "next-write", "last-execution", "call-stack"]
wanted = ["record/gzip/ratio", "none/gzip/seconds", "verify/gzip/ratio", "size/gzip/bytes-per-instruction"]
wanted += ["memory/gzip/indexer", "query/gzip/open"] + ["query/gzip/" + kind for kind in kinds]
wanted += ["query/gzip-short/open"]
micro = ["sequence-encode-symbol", "page-chunk-encode-granule", "block-encode-block", "compress-lz4-byte"]
micro += ["executions-encode-superblock", "activations-encode-activation", "stacks-encode-block"]
micro += ["directory-encode-entry", "index-decode-instruction", "replay-instruction",
          "replay-native-instruction"]
wanted += ["micro/%s/ns" % name for name in micro]
for name in wanted:
    entry = measures[name]
    assert entry["repetitions"] and min(min(samples) for samples in entry["repetitions"]) > 0, name
    assert entry["low"] <= entry["median"] <= entry["high"], name
assert [len(samples) for samples in measures["query/gzip/registers"]["repetitions"]] == [3]
assert [len(samples) for samples in measures["query/gzip/open"]["repetitions"]] == [3 * len(kinds)]
assert measures["size/gzip/instructions"]["median"] > 3 * measures["size/gzip-short/instructions"]["median"]
record = rows["record, worst"]
assert record["value"] == measures["record/gzip/ratio"]["median"] and record["must"] == 3
for kind in kinds:
    for row in (rows[kind + ", p50"], rows[kind + ", p99"]):
        missed = row["value"] > row["must"]
        assert missed == (row["verdict"] == "miss"), row
# Too short to judge the size by.
assert rows["database, geometric mean"]["verdict"] == rows["open and first answer"]["verdict"] == "none"
print(len(rows), "rows and", len(measures), "measures are sound")
