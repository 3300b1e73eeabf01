# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""self-log.py trace log: what the program itself logged at each call of probe()
(test/programs/self_log.c) is what the trace says about that moment: registers, the top
of the stack, and a window of memory. Asked about in random order."""
import math
import random
import struct
import sys

from session import Session

NAMES = ["rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp"]
NAMES += ["r%d" % n for n in range(8, 16)]
# Carry, parity, adjust, zero, sign, direction, overflow: the others are not the program's.
FLAGS = 0xCD5
RECORD = struct.Struct("<Q16QQQQ512s108sI128s64sQ40x")


def extended(bits):
    """The 10 bytes into which Valgrind turns one of its 64-bit x87 registers."""
    sign, exponent, fraction = bits >> 63, bits >> 52 & 0x7FF, bits & (1 << 52) - 1
    value = struct.unpack("<d", struct.pack("<Q", bits))[0]
    if math.isnan(value) or math.isinf(value):
        high, significand = 0x7FFF, 1 << 63 | fraction << 11
    elif value == 0:
        high, significand = 0, 0
    elif exponent == 0:
        shift = 53 - fraction.bit_length()
        high, significand = 0x3C00 - shift + 1, fraction << (11 + shift)
    else:
        high, significand = exponent + 0x3C00, 1 << 63 | fraction << 11
    return struct.pack("<QH", significand, sign << 15 | high)


def registers_differ(logged, answer):
    (general, flags, fs, ymm, x87, mxcsr, probe) = logged
    r = answer["registers"]
    expected = dict(zip(NAMES, general))
    expected.update({"fs-base": fs, "mxcsr": mxcsr, "rip": probe})
    for n in range(16):
        expected["ymm%d" % n] = int.from_bytes(ymm[32 * n : 32 * n + 32], "little")
    for name, value in expected.items():
        if int(r[name], 16) != value:
            return "%s is %s, logged %#x" % (name, r[name], value)
    if (int(r["rflags"], 16) ^ flags) & FLAGS:
        return "rflags is %s, logged %#x" % (r["rflags"], flags)
    control, status, tags = (struct.unpack_from("<H", x87, at)[0] for at in (0, 4, 8))
    # Valgrind keeps no exceptions, which are the lower half of both words; and of the
    # control word only the rounding.
    if (int(r["x87"]["control"], 16) ^ control) & 0xC00:
        return "x87 control is %s, logged %#x" % (r["x87"]["control"], control)
    if (int(r["x87"]["status"], 16) ^ status) & 0x7F00:
        return "x87 status is %s, logged %#x" % (r["x87"]["status"], status)
    for n, st in enumerate(r["x87"]["st"]):
        number = (status >> 11) + n & 7
        empty = tags >> 2 * number & 3 == 3
        if st["empty"] != empty:
            return "st(%d) empty is %s, logged %s" % (n, st["empty"], empty)
        found, wanted = extended(int(st["bits"], 16)), x87[28 + 10 * n : 38 + 10 * n]
        if found != wanted:
            return "st(%d) is %s, logged %s" % (n, found.hex(), wanted.hex())
    return None


def main():
    trace, path = sys.argv[1:3]
    with open(path, "rb") as file:
        log = [RECORD.unpack(part) for part in iter(lambda: file.read(RECORD.size), b"")]
    s = Session(["chronicle", "query", trace])
    starts = s.ask("events", kinds="thread-start")
    threads = {t["os-thread"]: t["thread"] for t in starts}
    moments = {}
    for x in s.ask("executions", function="probe"):
        moments.setdefault(x["thread"], []).append(x["time"])
    records = []
    for record in log:
        records.append((moments[threads[record[0]]].pop(0), threads[record[0]], record))
    assert not any(moments.values()), "executions of probe() that logged nothing"
    random.Random(1).shuffle(records)

    failures = checks = 0
    for first in range(0, len(records), 50):
        asked = []
        for time, thread, record in records[first : first + 50]:
            rsp, window = record[8], record[19]
            asked.append(
                (
                    s.send("registers", at=time, thread=thread),
                    s.send("memory", at=time, address=rsp, length=64),
                    s.send("memory", at=time, address=window, length=128),
                )
            )
        for (time, thread, record), numbers in zip(records[first : first + 50], asked):
            answers = [s.answers(n)[-1]["result"] for n in numbers]
            general, (flags, fs, _, ymm, x87, mxcsr, memory, stack, probe) = (
                record[1:17],
                record[17:],
            )
            wrong = registers_differ((general, flags, fs, ymm, x87, mxcsr, probe), answers[0])
            if answers[1]["bytes"] != stack.hex():
                wrong = "the stack is %s, logged %s" % (answers[1]["bytes"], stack.hex())
            if answers[2]["bytes"] != memory.hex() or answers[2]["unmapped"]:
                wrong = "memory is %s, logged %s" % (answers[2]["bytes"], memory.hex())
            checks += 1
            if wrong:
                failures += 1
                if failures <= 20:
                    print("FAILED: thread %d at %d: %s" % (thread, time, wrong))
    print("%d moments of %d threads, %d failures" % (checks, len(moments), failures))
    return failures != 0


sys.exit(main())
