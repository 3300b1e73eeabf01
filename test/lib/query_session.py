# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A client of `chronicle query` over pipes or a Unix socket."""
import itertools
import json
import socket
import subprocess
import time


class Session:
    """A connection. Each request gets a number of its own, by which answers are sorted."""

    def __init__(self, command=None, path=None):
        self.process = self.connection = None
        if command:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            self.reader, self.writer = self.process.stdout, self.process.stdin
        else:
            self.connection = socket.socket(socket.AF_UNIX)
            self.connection.connect(path)
            self.reader = self.connection.makefile("rb")
            self.writer = self.connection.makefile("wb")
        self.next = 0
        self.early = {}

    def send(self, cmd, **arguments):
        self.next += 1
        request = {"id": self.next, "cmd": cmd}
        request.update((k.replace("_", "-"), v) for k, v in arguments.items())
        self.raw(json.dumps(request).encode())
        return self.next

    def raw(self, line):
        self.writer.write(line + b"\n")
        self.writer.flush()

    def receive(self):
        line = self.reader.readline()
        assert line, "the session ended"
        return json.loads(line)

    def answers(self, number):
        """All answers to one request; the last one is final."""
        got = self.early.pop(number, [])
        while not (got and ("done" in got[-1] or "error" in got[-1])):
            answer = self.receive()
            if answer["id"] == number:
                got.append(answer)
            else:
                self.early.setdefault(answer["id"], []).append(answer)
        return got

    def ask(self, cmd, **arguments):
        """The result of a request. For a search, the list of everything it found."""
        got = self.answers(self.send(cmd, **arguments))
        assert "error" not in got[-1], (cmd, arguments, got[-1])
        if "result" in got[-1]:
            return got[-1]["result"]
        return list(itertools.chain.from_iterable(a.get("partial", []) for a in got))

    def error(self, cmd, **arguments):
        got = self.answers(self.send(cmd, **arguments))
        assert "error" in got[-1], (cmd, arguments, got[-1])
        assert got[-1]["error"]["message"], got[-1]
        return got[-1]["error"]["code"]

    def close(self):
        """Ends the input. Returns the answers that were still to come, and the exit status."""
        if self.connection:
            self.connection.close()
            self.reader.close()
            return [], None
        self.writer.close()
        rest = [json.loads(line) for line in self.reader]
        return rest, self.process.wait()


def connect(path, seconds=300):
    """Connects to a server that may still be starting."""
    end = time.time() + seconds
    while True:
        try:
            return Session(path=path)
        except (FileNotFoundError, ConnectionRefusedError):
            if time.time() > end:
                raise
            time.sleep(0.05)
