# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every kind of bad request has its error, and the session goes on."""
import sys

from session import Session

s = Session(sys.argv[1:])
end = s.ask("info")["instructions"]


def refused(line, code):
    s.raw(line)
    answer = s.receive()
    assert answer["id"] is None and answer["error"]["code"] == code, answer


refused(b"{", "malformed")
refused(b"[1, 2]", "malformed")
refused(b"17", "malformed")
refused(b"\xff\xfe", "malformed")
refused(b'{"cmd":"info"} trailing', "malformed")
refused(b'{"cmd":"info","x":"' + b"a" * (1 << 20) + b'"}', "malformed")
refused(b'{"id":{},"cmd":"info"}', "bad-argument")
refused(b'{"id":true,"cmd":"info"}', "bad-argument")
refused(b'{"at":1}', "missing-argument")
refused(b'{"cmd":7}', "bad-argument")
s.raw(b"")
s.raw(b"   ")

cases = [
    ("unknown-command", "nonsense", {}),
    ("unknown-command", "", {}),
    ("unknown-command", "INFO", {}),
    ("unknown-argument", "info", {"at": 3}),
    ("unknown-argument", "registers", {"at": 3, "tread": 1}),
    ("missing-argument", "registers", {}),
    ("missing-argument", "memory", {"at": 3}),
    ("missing-argument", "memory", {"at": 3, "address": 3}),
    ("missing-argument", "last-write", {"address": 3, "length": 1}),
    ("missing-argument", "executions", {}),
    ("missing-argument", "executions", {"file": "demo.c"}),
    ("missing-argument", "calls", {}),
    ("missing-argument", "output", {}),
    ("missing-argument", "symbol", {}),
    ("missing-argument", "function", {}),
    ("missing-argument", "cancel", {}),
    ("bad-argument", "registers", {"at": -1}),
    ("bad-argument", "registers", {"at": 1.5}),
    ("bad-argument", "registers", {"at": [1]}),
    ("bad-argument", "registers", {"at": None}),
    ("bad-argument", "registers", {"at": "0x"}),
    ("bad-argument", "registers", {"at": "12z"}),
    ("bad-argument", "registers", {"at": "0x10000000000000000"}),
    ("bad-argument", "registers", {"at": 1, "thread": 0}),
    ("bad-argument", "registers", {"at": 1, "thread": "one"}),
    ("bad-argument", "memory", {"at": 1, "address": 0, "length": 0}),
    ("bad-argument", "memory", {"at": 1, "address": 0, "length": 1 << 40}),
    ("bad-argument", "memory", {"at": 1, "address": 2**64 - 1, "length": 2}),
    ("bad-argument", "memory", {"at": 1, "global": "Accounts", "offset": 64}),
    ("bad-argument", "memory", {"at": 1, "global": "Accounts", "length": 65}),
    ("bad-argument", "memory", {"at": 1, "global": 5}),
    ("bad-argument", "writes", {"address": 1, "length": 1, "limit": 0}),
    ("bad-argument", "writes", {"address": 1, "length": 1, "backward": 1}),
    ("bad-argument", "writes", {"address": 1, "length": 1, "from": 9, "to": 8}),
    ("bad-argument", "executions", {"function": "main", "address": 1}),
    ("bad-argument", "executions", {"file": "demo.c", "line": 0}),
    ("bad-argument", "last-execution", {"function": "main", "at": 5, "to": 6}),
    ("bad-argument", "events", {"kinds": "parties"}),
    ("bad-argument", "events", {"kinds": [1]}),
    ("bad-argument", "output", {"find": ""}),
    ("bad-argument", "function", {"pattern": "["}),
    ("out-of-range", "registers", {"at": end + 1}),
    ("out-of-range", "registers", {"at": str(end + 1)}),
    ("out-of-range", "memory", {"at": 2**64 - 1, "address": 0, "length": 1}),
    ("out-of-range", "events", {"from": end + 1}),
    ("out-of-range", "writes", {"address": 1, "length": 1, "to": end + 1}),
    ("out-of-range", "return-of", {"at": 10, "frame": 1000}),
    ("not-found", "registers", {"at": 1, "thread": 2}),
    ("not-found", "memory", {"at": 1, "global": "nowhere"}),
    ("not-found", "executions", {"function": "nowhere"}),
    ("not-found", "calls", {"function": "nowhere"}),
    ("not-found", "executions", {"file": "nowhere.c", "line": 1}),
]
for code, cmd, arguments in cases:
    got = s.error(cmd, **arguments)
    assert got == code, (cmd, arguments, got, code)

# What is not found by name alone is an empty answer.
assert s.ask("function", name="nowhere")["functions"] == []
assert s.ask("global", name="nowhere")["globals"] == []
assert s.ask("line", file="nowhere.c", line=1)["code"] == []
assert s.ask("last-write", at=end, address=16, length=8) is None
assert s.ask("last-execution", address=16) is None

# Numbers in every form, also the largest.
for form in (1000, "1000", "0x3e8", "0X3E8"):
    assert s.ask("registers", at=form)["at"] == 1000
top = s.ask("memory", at="end", address=2**64 - 4, length=4)
assert top["address"] == "0xfffffffffffffffc" and top["unmapped"][0]["length"] == 4, top

rest, status = s.close()
assert rest == [] and status == 0, (rest, status)
print("refused %d requests" % len(cases))
