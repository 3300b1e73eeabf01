# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""modules.py trace: the loads of plugin.so by programs/load.c."""
import sys

from session import Session

s = Session(["chronicle", "query", sys.argv[1]])
everything = s.ask("modules")["modules"]
plugins = [m for m in everything if m["path"].endswith("/plugin.so")]
assert len(plugins) == 4, plugins
assert all(m["build-id"] for m in plugins)
times = [t for m in plugins for t in (m["loaded"], m["unloaded"])]
assert times == sorted(times) and None not in times, times


def there(at):
    return [m for m in s.ask("modules", at=at)["modules"] if m in plugins]


functions = s.ask("function", name="pluginCall")["functions"]
assert len(functions) == 4, functions
for module, function in zip(plugins, functions):
    assert function["loaded"] == module["loaded"], (function, module)
    pc = function["address"]
    assert there(module["loaded"]) == [module] == there(module["unloaded"] - 1)
    assert module not in there(module["unloaded"])
    inside = s.ask("symbol", pc=pc, at=module["unloaded"] - 1)
    assert inside["symbol"]["function"] == "pluginCall", inside
    after = s.ask("symbol", pc=pc, at=module["unloaded"])["symbol"]
    assert after is None or after["function"] != "pluginCall", after

# Two calls a load, wherever the library was.
calls = s.ask("calls", function="pluginCall")
assert len(calls) == 8, len(calls)
values = [int(c["arguments"]["rdi"], 0) for c in calls]
assert values[:2] in ([10, 2000], [2000, 10]) and values == values[:2] * 4, values
for n, call in enumerate(calls):
    module = plugins[n // 2]
    assert module["loaded"] < call["entry"] < call["return"] < module["unloaded"]
assert len({c["thread"] for c in calls}) == 2
backward = s.ask("calls", function="pluginCall", backward=True, limit=3)
assert backward == calls[:-4:-1], backward
assert s.ask("count-executions", function="pluginCall", thread=1)["count"] == 6
# The same library, not one of the same name: the C library stays.
libc = [m for m in everything if "libc.so" in m["path"]]
assert len(libc) == 1 and libc[0]["unloaded"] is None, libc
print("loaded %d times" % len(plugins))
