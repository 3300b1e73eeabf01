# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""same-frames.py TRACE PROGRAM SEED: compares the frames that LLDB has from
history with those that gdb unwinds by itself, at random moments after main
began: where each goes on, its stack pointer and the registers that callees
keep."""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

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
    # Where it knows no function it has lost its way; and it makes up frames of
    # functions that ended by a jump.
    while frame and frame.name():
        if frame.type() == gdb.TAILCALL_FRAME:
            frame = frame.older()
            continue
        values = [int(frame.read_register(name)) & (2**64 - 1) for name in NAMES]
        print("=", *values)
        frame = frame.older()
"""


def query(trace, request):
    out = subprocess.check_output(
        ["chronicle", "query", trace, json.dumps(request)], text=True
    )
    return json.loads(out)["result"]


def gdb_frames(trace, program, times, folder):
    script = os.path.join(folder, "frames.py")
    with open(script, "w") as f:
        f.write("NAMES = %r\n" % NAMES + GDB)
        for time in times:
            f.write("show(%d)\n" % time)
    with subprocess.Popen(
        ["chronicle", "serve", "--once", trace], stdout=subprocess.PIPE, text=True
    ) as server:
        port = server.stdout.readline().rsplit(":", 1)[-1].strip()
        gdb = ["gdb", "-nx", "-q", "-batch", "-ex", "set pagination off", program]
        gdb += ["-ex", "target remote 127.0.0.1:" + port, "-x", script]
        return subprocess.run(
            gdb, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=600
        ).stdout


def lldb_frames(trace, times, folder):
    script = os.path.join(folder, "frames.lldb")
    with open(script, "w") as f:
        for time in times:
            f.write("chronicle goto %d\nchronicle now\n" % time)
            for i in range(2 * DEPTH):
                f.write("frame select %d\nregister read %s\n" % (i, " ".join(NAMES)))
    # A frame too many is no reason to stop.
    source = "command source --stop-on-error false " + script
    return subprocess.run(
        ["chronicle", "debug", trace, "-x", "-o", source, "-o", "quit"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        timeout=600,
    ).stdout


def parse_gdb(text):
    result = {}
    for line in text.splitlines():
        if line.startswith("@ "):
            frames = result.setdefault(int(line[2:]), [])
        elif line.startswith("= "):
            values = [int(word) for word in line[2:].split()]
            if not frames or frames[-1] != values:  # inlined: the same frame
                frames.append(values)
    return result


def parse_lldb(text):
    result = {}
    frames = values = None
    for line in text.splitlines():
        at = re.match(r"time (\d+) of", line)
        register = re.match(r"\s*(\w+) = (0x[0-9a-f]+)", line)
        if at:
            frames = result.setdefault(int(at[1]), [])
        elif register and frames is not None and register[1] in NAMES:
            if register[1] == NAMES[0]:
                values = []
            values.append(int(register[2], 16))
            if len(values) == len(NAMES) and (not frames or frames[-1] != values):
                frames.append(values)
    return result


def main():
    trace, program, seed = sys.argv[1:]
    first = query(trace, {"cmd": "next-execution", "function": "main", "at": "start"})
    last = query(trace, {"cmd": "info"})["instructions"]
    chosen = random.Random(int(seed))
    times = sorted(chosen.randrange(first["time"], last) for _ in range(MOMENTS))
    with tempfile.TemporaryDirectory() as folder:
        theirs = parse_gdb(gdb_frames(trace, program, times, folder))
        ours = parse_lldb(lldb_frames(trace, times, folder))
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
