# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""events.py trace: system calls, signals and output of Inputs/happenings.c."""
import sys

from session import Session

s = Session(["chronicle", "query", sys.argv[1]])
end = s.ask("info")["instructions"]

calls = s.ask("events", kinds="system-calls")
names = [c["name"] for c in calls]
assert "write" in names and "exit_group" in names, names
failed = [c for c in calls if c["event"] == "syscall-exit" and c.get("error")]
assert any(c["name"] == "chdir" and c["error"] == "ENOENT" for c in failed), failed
times = [c["time"] for c in calls]
assert times == sorted(times)
assert s.ask("events", kinds="system-calls", backward=True) == calls[::-1]
middle = times[len(times) // 2]
early = s.ask("events", kinds=["system-calls"], to=middle)
late = s.ask("events", kinds="system-calls", **{"from": middle + 1})
assert early + late == calls

signals = s.ask("events", kinds="signal")
assert [e["name"] for e in signals] == ["SIGUSR1"], signals
assert signals[0]["fatal"] is False
threads = s.ask("events", kinds="threads")
assert [e["event"] for e in threads][:1] == ["thread-start"], threads

# A text in three writes; one that is there twice; one that is not.
found = s.ask("output", find="split over three")
assert len(found) == 1 and len(found[0]["writes"]) == 3, found
assert found[0]["time"] == found[0]["writes"][0]["time"], found
assert "".join(w["text"] for w in found[0]["writes"]) == "It is split over three.\n"
assert len(s.ask("output", find="twice")) == 2
assert len(s.ask("output", find="twice", limit=1)) == 1
assert [f["descriptor"] for f in s.ask("output", find="error stream")] == [2]
assert s.ask("output", find="error stream", descriptor=1) == []
assert s.ask("output", find="nobody wrote this") == []
# Standard error comes in between, but is another stream.
assert [f["offset"] for f in s.ask("output", find="It is")] == [0]

# What read() wrote, and who: the system call, with arguments and result.
write = s.ask("last-write", at=end, **{"global": "Buffer"})
assert write["by"] == "system-call", write
call = write["system-call"]
assert call["name"] == "read" and call["result"] == 5, call
assert int(call["arguments"][1], 0) == int(write["address"], 0), call
assert bytes.fromhex(write["new"]) == b"hello", write
before = s.ask("memory", at=call["entered"] - 1, length=5, **{"global": "Buffer"})
after = s.ask("memory", at=write["time"], length=5, **{"global": "Buffer"})
assert bytes.fromhex(before["bytes"]) == b"\0" * 5, before
assert bytes.fromhex(after["bytes"]) == b"hello", after
# Nothing was written beyond.
beyond = s.ask("last-write", at=end, offset=5, **{"global": "Buffer"})
assert beyond is None or beyond["time"] < call["entered"], beyond

# The handler's stack: it was not called, and it interrupted main.
entry = s.ask("last-execution", function="handler")
stack = s.ask("call-stack", at=entry["time"])["frames"]
functions = [f["symbol"].get("function") if f["symbol"] else None for f in stack]
assert functions[0] == "handler" and stack[0]["signal"] is True, stack[0]
assert stack[0]["call-site"] is None and "main" in functions, functions
print("%d events" % len(calls))
