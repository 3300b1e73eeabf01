# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""symbols.py trace program: symbols of a program that says itself where things are.

The program (Inputs/where.c) prints addresses and lines, which are the truth here.
"""
import json
import sys

from session import Session

trace, program = sys.argv[1], sys.argv[2]
full = sys.argv[3] == "full"
s = Session(["chronicle", "query", trace])

truth = {}
for event in s.ask("events", kinds="output"):
    for line in event["text"].splitlines():
        name, value = line.split()
        truth[name] = int(value, 0)

found = s.ask("global", name="Counter")["globals"]
assert [int(g["address"], 0) for g in found] == [truth["Counter"]], (found, truth)
assert found[0]["size"] == truth["CounterSize"], found
found = s.ask("function", name="visit")["functions"]
assert [int(f["address"], 0) for f in found] == [truth["visit"]], (found, truth)

symbol = s.ask("symbol", pc=truth["visit"])["symbol"]
assert symbol["function"] == "visit" and symbol["offset"] == 0, symbol
assert symbol["module"] == program, symbol
if full:
    assert symbol["file"].endswith("where.c") and symbol["line"] == truth["VisitLine"]
else:
    assert "file" not in symbol, symbol

# Every call, with arguments and value as the program made them.
calls = s.ask("calls", function="visit")
assert len(calls) == truth["Visits"], len(calls)
for n, call in enumerate(calls):
    arguments = call["arguments"]
    assert int(arguments["rdi"], 0) == n, call
    assert int(arguments["rsi"], 0) == truth["Counter"], call
    assert int(call["value"], 0) == n * n, call
    assert call["caller"]["symbol"]["function"] == "main", call
    assert call["entry"] < call["return"], call
    # At entry the counter is still n, at the return it is one more.
    for at, count in ((call["entry"], n), (call["return"], n + 1)):
        memory = s.ask("memory", at=at, **{"global": "Counter"})
        assert int.from_bytes(bytes.fromhex(memory["bytes"]), "little") == count, memory

# The last write to the counter is the last visit's.
write = s.ask("last-write", at="end", **{"global": "Counter"})
last = calls[-1]
assert last["entry"] < write["time"] < last["return"], (write, last)
assert write["symbol"]["function"] == "visit", write
assert len(s.ask("writes", **{"global": "Counter"})) >= truth["Visits"]

# A library function by its dynamic symbol; an ifunc where it turned out to be.
assert s.ask("count-executions", function="puts")["count"] == truth["Puts"]
puts = s.ask("calls", function="puts")
assert len(puts) == truth["Puts"], puts
# It was called through the linkage table: by main all the same.
assert puts[0]["caller"]["symbol"]["function"] == "main", puts
assert puts[0]["tail-call"] is False and puts[0]["return"] > puts[0]["entry"], puts
assert int(puts[0]["value"], 0) == len("Puts 1\n"), puts
tails = s.ask("calls", function="finish")
assert len(tails) == 1 and int(tails[0]["arguments"]["rdi"], 0) == 77, tails
assert int(tails[0]["value"], 0) == 78, tails
assert tails[0]["caller"]["symbol"]["function"] == "tail", tails
assert s.ask("count-executions", function="strlen")["count"] >= truth["Strlens"]

if full:
    lines = s.ask("line", file="where.c", line=truth["VisitLine"])["code"]
    assert truth["visit"] in [int(c["address"], 0) for c in lines], lines
    count = s.ask("count-executions", file="where.c", line=truth["StoreLine"])["count"]
    assert count == truth["Visits"], count
    write_line = write["symbol"]["line"]
    assert write_line == truth["StoreLine"], write
print("symbols of %d calls" % len(calls))
