# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""step.py PROGRAM: steps through a program with the debugger stub of stock Valgrind, and prints
its state before each instruction:

    r TIME REGISTERS            all registers, as the remote protocol encodes them
    m TIME ADDRESS BYTES        its writable memory, before every 50th instruction

The program must be static, and its stack must be part of its data."""
import os
import struct
import subprocess
import sys
import tempfile
import time


class Stub:
    """A remote-protocol session with the stub in a process under Valgrind."""

    def __init__(self, pid, prefix):
        self.relay = subprocess.Popen(
            ["vgdb", "--vgdb-prefix=" + prefix, "--pid=%d" % pid],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        self.input = b""

    def byte(self):
        if not self.input:
            self.input = os.read(self.relay.stdout.fileno(), 65536)
            if not self.input:
                raise EOFError("the debugger stub closed the connection")
        first, self.input = self.input[:1], self.input[1:]
        return first

    def ask(self, text):
        data = text.encode()
        self.relay.stdin.write(b"$%s#%02x" % (data, sum(data) % 256))
        while self.byte() != b"$":
            pass
        answer = b""
        while True:
            c = self.byte()
            if c == b"#":
                break
            answer += c
        self.byte(), self.byte()
        self.relay.stdin.write(b"+")
        # A run of one character is sent as the character, * and a count.
        result, at = [], 0
        while at < len(answer):
            if answer[at : at + 1] == b"*":
                result.append(result[-1][-1:] * (answer[at + 1] - 29))
                at += 2
            else:
                result.append(answer[at : at + 1])
                at += 1
        return b"".join(result).decode()


def writable(program):
    """Address and length of the segment that a static program can write."""
    with open(program, "rb") as file:
        image = file.read()
    (headers,) = struct.unpack_from("<Q", image, 32)
    size, count = struct.unpack_from("<HH", image, 54)
    for at in range(headers, headers + size * count, size):
        kind, flags, _, address, _, _, length = struct.unpack_from("<IIQQQQQ", image, at)
        if kind == 1 and flags & 2:
            return address, length
    sys.exit("step.py: %s has no writable segment" % program)


def step(run, place, prefix, first, length):
    deadline = time.time() + 30
    while not any("from-vgdb-to-%d" % run.pid in n for n in os.listdir(place)):
        if time.time() > deadline:
            sys.exit("step.py: Valgrind's debugger stub did not start")
        time.sleep(0.05)
    stub = Stub(run.pid, prefix)
    stub.ask("?")
    at = 0
    while True:
        print("r", at, stub.ask("g"))
        if at % 50 == 0:
            for part in range(first, first + length, 2048):
                size = min(2048, first + length - part)
                print("m", at, "%x" % part, stub.ask("m%x,%x" % (part, size)))
        # The answer to "s" is a stop or the end of the program.
        if stub.ask("s")[:1] in "WX":
            break
        at += 1
    stub.relay.stdin.close()


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as place:
        prefix = os.path.join(place, "vgdb-pipe")
        run = subprocess.Popen(
            ["valgrind", "-q", "--tool=none", "--vgdb=full", "--vgdb-error=0",
             "--vgdb-prefix=" + prefix, program],
            stderr=subprocess.DEVNULL,
        )
        try:
            step(run, place, prefix, *writable(program))
        finally:
            run.kill()
            run.wait()


main()
