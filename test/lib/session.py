# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a file of commands on a trace and prints what the debugger prints. A command may fail.

    session.py lldb TRACE COMMANDS
    session.py gdb TRACE PROGRAM COMMANDS    through `chronicle serve`"""
import sys

import debugger

kind, trace, *program, session = sys.argv[1:]
commands = debugger.commands_of(session)
if kind == "lldb":
    print(debugger.lldb(debugger.on_trace(trace), commands))
else:
    answers = debugger.served_gdb_answers(trace, program[0], [], commands)
    for command, answer in zip(commands, answers):
        print("(gdb) %s\n%s" % (command, answer), end="")
