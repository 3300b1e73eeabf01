# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""same-frames.py TRACE PROGRAM SEED: compares the frames that LLDB gets from history with those
that gdb unwinds by itself, at random moments after main began. Compares the program counter, the
stack pointer and the registers that a callee preserves."""
import random
import re
import sys
import tempfile

import debugger
import query_session

MOMENTS = 25
DEPTH = 8
NAMES = ["rip", "rsp", "rbx", "rbp", "r12", "r13", "r14", "r15"]

GDB = """
import gdb
def show(time):
    gdb.execute("monitor goto %d" % time, to_string=True)
    gdb.execute("stepi", to_string=True)
    frame = gdb.newest_frame()
    print("@", time)
    # A frame without a function means that gdb has lost its way. Tail-call frames are
    # gdb's guesses.
    while frame and frame.name():
        if frame.type() == gdb.TAILCALL_FRAME:
            frame = frame.older()
            continue
        values = [int(frame.read_register(name)) & (2**64 - 1) for name in NAMES]
        print("=", *values)
        frame = frame.older()
"""


def gdb_frames(trace, program, times):
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write("NAMES = %r\n" % NAMES + GDB)
        script.writelines("show(%d)\n" % time for time in times)
        script.flush()
        return debugger.served_gdb_answers(trace, program, [], ["source " + script.name])[0]


def lldb_frames(trace, times):
    read = "register read " + " ".join(NAMES)
    commands = []
    for time in times:
        commands += ["chronicle goto %d" % time, "chronicle now"]
        for frame in range(2 * DEPTH):
            commands += ["frame select %d" % frame, read]
    return debugger.lldb(debugger.on_trace(trace), commands)


def parse_gdb(text):
    result = {}
    for line in text.splitlines():
        if line.startswith("@ "):
            frames = result.setdefault(int(line[2:]), [])
        elif line.startswith("= "):
            values = [int(word) for word in line[2:].split()]
            if not frames or frames[-1] != values:  # an inlined function has the same frame
                frames.append(values)
    return result


def parse_lldb(text):
    result = {}
    frames = values = None
    for line in text.splitlines():
        at = re.match(r"time ([\d,]+) of", line)
        register = re.match(r"\s*(\w+) = (0x[0-9a-f]+)", line)
        if at:
            frames = result.setdefault(int(at[1].replace(",", "")), [])
        elif register and frames is not None and register[1] in NAMES:
            if register[1] == NAMES[0]:
                values = []
            values.append(int(register[2], 16))
            if len(values) == len(NAMES) and (not frames or frames[-1] != values):
                frames.append(values)
    return result


def main():
    trace, program, seed = sys.argv[1:]
    session = query_session.Session(["chronicle", "query", trace])
    first = session.ask("next-execution", function="main", at="start")
    last = session.ask("info")["instructions"]
    session.close()
    chosen = random.Random(int(seed))
    times = sorted(chosen.randrange(first["time"], last) for _ in range(MOMENTS))
    theirs = parse_gdb(gdb_frames(trace, program, times))
    ours = parse_lldb(lldb_frames(trace, times))
    wrong = compared = 0
    for time in times:
        for i, frame in enumerate(theirs.get(time, [])[:DEPTH]):
            mine = ours.get(time, [])[i : i + 1]
            compared += 1
            if mine != [frame]:
                wrong += 1
                print("time %d, frame %d:" % (time, i))
                print("  gdb ", " ".join(map(hex, frame)))
                print("  LLDB", " ".join(map(hex, mine[0] if mine else [])))
                break
    print("%d frames compared at %d moments, %d wrong" % (compared, len(theirs), wrong))
    sys.exit(1 if wrong or compared < 2 * MOMENTS else 0)


main()
