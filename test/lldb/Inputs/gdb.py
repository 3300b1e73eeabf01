# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs gdb as `chronicle serve` says.
import shlex
import subprocess
import sys

import debugger

trace, session = sys.argv[1:]
with subprocess.Popen(
    ["chronicle", "serve", "--once", trace], stdout=subprocess.PIPE, text=True
) as server:
    server.stdout.readline()
    start = server.stdout.readline()
    words = shlex.split(start.partition("start gdb by: gdb ")[2])
    before = [word for word in words if word != "-ex"]
    commands = debugger.commands_of(session)
    for command, answer in zip(commands, debugger.gdb_answers("-nh", before, commands)):
        print("(gdb) %s\n%s" % (command, answer), end="")
