# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""thread-locals.py trace log: where thread_locals.c says that each thread's variables
are, and what the trace says."""
import sys

from session import Session

s = Session(["chronicle", "query", sys.argv[1]])
told = [line.split() for line in open(sys.argv[2])]
checked = 0
for thread, name, address in told:
    place = {"global": name, "thread": int(thread)}
    here = s.ask("memory", at="end", **place)
    assert int(here["address"], 0) == int(address, 0), (thread, name, here, address)
    value = int.from_bytes(bytes.fromhex(here["bytes"][:16]), "little", signed=True)
    expected = {"Plain": int(thread), "PluginOwn": 5, "PluginShared": 6}.get(name)
    assert expected is None or value == expected, (thread, name, value)
    if name in ("Plain", "Zero"):
        write = s.ask("last-write", at="end", **place)
        assert write["thread"] == int(thread), write
        assert write["symbol"]["function"] == "tell", write
    checked += 1

# The thread that runs then, if none is named.
main = s.ask("memory", at="end", **{"global": "Plain"})
assert main == s.ask("memory", at="end", thread=1, **{"global": "Plain"})



def error(**arguments):
    return s.answers(s.send("memory", **arguments))[-1]["error"]


# Exact or silent: thread 4 never used the plugin's, nobody has any at the start.
for name in {name for _, name, _ in told if name.startswith("Plugin")}:
    said = error(at="end", thread=4, **{"global": name})
    assert "has no '" + name + "' yet" in said["message"], said
said = error(at="start", thread=1, **{"global": "Plain"})
assert "has no 'Plain' yet" in said["message"], said
assert error(at="end", thread=9, **{"global": "Plain"})["code"] == "not-found"
assert error(at="end", thread=0, **{"global": "Plain"})["code"] == "bad-argument"
print(checked, "places")
