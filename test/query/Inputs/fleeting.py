# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fleeting.py trace: the writes of Inputs/fleeting.c, page by page, and how each page
became empty again."""
import sys

from session import Session

s = Session(["chronicle", "query", sys.argv[1]])


def value(hexadecimal):
    return int.from_bytes(bytes.fromhex(hexadecimal), "little")


def history(address):
    """(who, old, new) of the 8 bytes there, oldest first."""
    found = s.ask("writes", address=address, length=8)
    assert found == s.ask("writes", address=address, length=8, backward=True)[::-1]
    result = []
    for w in found:
        at = address - int(w.get("bytes-address", w["address"]), 16)
        old, new = (value(w[k][2 * at : 2 * at + 16]) for k in ("old", "new"))
        if old or new:
            result.append((w["by"], old, new))
    return result


page = 0x10000000
I, S, M = "instruction", "system-call", "mapping"
expected = {
    page + 8: [(I, 0, 1), (S, 1, 0)],
    page + 4096 + 8: [(I, 0, 2), (S, 2, 0), (I, 0, 3), (M, 3, 0)],
    page + 8192 + 8: [(I, 0, 4), (M, 4, 0)],
    page + 12288 + 8: [(I, 0, 5), (M, 5, 0)],
    page + 12288 + 16: [(I, 0, 6)],
}
for address, writes in expected.items():
    assert history(address) == writes, (hex(address), history(address), writes)
    last = s.ask("last-write", at="end", address=address, length=8)
    assert last["by"] == writes[-1][0], last
    first = s.ask("next-write", at="start", address=address, length=8)
    assert first["by"] == I and value(first["new"]) == writes[0][2], first
print("%d histories" % len(expected))
