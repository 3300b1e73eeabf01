# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Many requests at once, partial results, cancel, and the end of the input."""
import json
import os
import signal
import subprocess
import sys

from session import Session, connect

command, path = sys.argv[2:], sys.argv[1]

# A thousand at once answer as one after the other does.
s = Session(command)
end = s.ask("info")["instructions"]
times = [end * n // 500 for n in range(500)]
numbers = [s.send("registers", at=t) for t in times]
numbers += [s.send("call-stack", at=t) for t in times]
together = [s.answers(n)[-1]["result"] for n in numbers]
alone = [s.ask("registers", at=t) for t in times[::50]]
alone += [s.ask("call-stack", at=t) for t in times[::50]]
assert together[::50] == alone
assert [r["at"] for r in together] == times * 2

# The same id twice at a time is a mistake, one after the other is not.
s.raw(b'{"id":"x","cmd":"executions","inside":"main"}')
s.raw(b'{"id":"x","cmd":"info"}')
codes, done = [], 0
while done < 1 or not codes:
    answer = s.receive()
    if "error" in answer:
        codes.append(answer["error"]["code"])
    done += "done" in answer
    if done == 2:
        break
assert codes == ["duplicate-id"] or done == 2, codes
s.raw(b'{"id":"x","cmd":"info"}')
while "result" not in s.receive():
    pass

# Partial results come while the search goes on, and can be cancelled.
long = s.send("executions", address=0, length=1 << 47)
first = s.receive()
assert first["id"] == long and first["partial"], first
assert s.ask("cancel", target=long)["cancelled"] is True
got = s.answers(long)
assert got[-1]["error"]["code"] == "cancelled", got[-1]
assert sum(len(a.get("partial", [])) for a in got) < end
assert s.ask("cancel", target=long)["cancelled"] is False
assert s.ask("cancel", target="nobody")["cancelled"] is False

# The end of the input does not end what is under way; answers stay whole lines.
numbers = [s.send("registers", at=t) for t in times[:40]]
many = s.send("executions", function="transfer")
count = s.send("count-executions", function="transfer")
rest, status = s.close()
assert status == 0, status
finished = [a["id"] for a in rest if "done" in a]
assert sorted(finished) == sorted(numbers + [many, count]), finished
found = sum((a["partial"] for a in rest if "partial" in a), [])
last = [a for a in rest if a["id"] == many and "done" in a][0]
counted = [a for a in rest if a["id"] == count][0]["result"]["count"]
assert len(found) == last["count"] == counted, (len(found), last, counted)
in_order = [e["time"] for e in found]
assert in_order == sorted(set(in_order))

# Nobody reads the answers: it ends, with status 1.
p = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
p.stdout.close()
p.stdin.write(b'{"cmd":"executions","address":0,"length":"0x800000000000"}\n')
p.stdin.close()
assert p.wait(timeout=600) == 1, p.returncode

# A socket serves several clients, each with its own ids.
server = subprocess.Popen(command[:-1] + ["--listen", path, command[-1]])
try:
    a, b = connect(path), connect(path)
    assert os.stat(path).st_mode & 0o077 == 0, oct(os.stat(path).st_mode)
    first, second = a.send("registers", at=10), b.send("registers", at=20)
    assert first == second == 1
    assert b.answers(second)[-1]["result"]["at"] == 20
    assert a.answers(first)[-1]["result"]["at"] == 10
    assert b.ask("cancel", target="a's")["cancelled"] is False
    # One that leaves in the middle of a search does not disturb the other.
    a.send("executions", address=0, length=1 << 47)
    a.close()
    assert b.ask("registers", at=30)["at"] == 30
    # A second server is refused as long as the first is there.
    other = subprocess.run(
        command[:-1] + ["--listen", path, command[-1]], stderr=subprocess.PIPE, text=True
    )
    assert other.returncode == 2 and "in use" in other.stderr, other
    server.send_signal(signal.SIGTERM)
    assert server.wait(timeout=600) == -signal.SIGTERM
    assert not os.path.exists(path)
    # One that was killed leaves its socket, which the next one replaces.
    server = subprocess.Popen(command[:-1] + ["--listen", path, command[-1]])
    connect(path).close()
    server.kill()
    server.wait()
    assert os.path.exists(path)
    server = subprocess.Popen(command[:-1] + ["--listen", path, command[-1]])
    assert connect(path).ask("registers", at=30)["at"] == 30
finally:
    server.terminate()
    server.wait()
print(json.dumps({"found": len(found)}))
