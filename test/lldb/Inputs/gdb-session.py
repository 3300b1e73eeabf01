# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gdb-session.py TRACE PROGRAM COMMANDS: runs a file of gdb commands against
`chronicle serve TRACE` and prints what gdb prints."""
import subprocess
import sys

trace, program, commands = sys.argv[1:]
with subprocess.Popen(
    ["chronicle", "serve", "--once", trace], stdout=subprocess.PIPE, text=True
) as server:
    line = server.stdout.readline()
    port = line.rsplit(":", 1)[-1].strip()
    gdb = ["gdb", "-nx", "-q", "-batch", "-ex", "set pagination off", program]
    gdb += ["-ex", "target remote 127.0.0.1:" + port, "-x", commands]
    # Its status is 1 if the last command was refused, as a test may want.
    subprocess.run(
        gdb, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, timeout=600
    )
    if server.wait(timeout=600) != 0:
        sys.exit("chronicle serve failed")
