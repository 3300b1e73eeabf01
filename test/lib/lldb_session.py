# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs LLDB over a file of commands, on a trace or on the living program.

A session that does not end in time is a failure, never a wait: its processes are
killed and what it had printed is shown."""
import os
import re
import signal
import subprocess
import sys

TIMEOUT = 600  # for a machine under load; nothing waits that long if all is well
PROMPT = "(lldb) "
# What both kinds of session need to print the same: no colours, no lines of
# source that wrap, no debug files from elsewhere, no memory of earlier sessions.
SETTINGS = [
    "settings set use-color false",
    "settings set stop-disassembly-display never",
    "settings set symbols.enable-external-lookup false",
    # Another thread of LLDB's prints warnings, before or after the answer.
    "settings set target.process.optimization-warnings false",
    "settings set target.max-string-summary-length 80",
    "settings set interpreter.prompt-on-quit false",
    "settings set interpreter.stop-command-source-on-error false",
]


def fail(message, output=""):
    print("FAILED:", message)
    print(output[-30000:])
    sys.exit(1)


def marked_lines(source):
    """Where the source says `// line: name`: what @name@ in a session stands for."""
    lines = {}
    with open(source) as file:
        for number, text in enumerate(file, 1):
            found = re.search(r"// line: ([\w-]+)", text)
            if found:
                lines[found.group(1)] = number
    return lines


def commands_of(path, source):
    """The commands of a session file, with @name@ made file:line and @name#@ the
    line. Lines that start with # are for the reader."""
    marks = marked_lines(source) if source else {}
    name = os.path.basename(source or "")

    def place(found):
        if found.group(1) not in marks:
            fail("%s marks no line %s" % (source, found.group(1)))
        line = str(marks[found.group(1)])
        return line if found.group(2) else name + ":" + line

    with open(path) as file:
        lines = [line.strip() for line in file]
    return [
        re.sub(r"@([\w-]+)(#?)@", place, line)
        for line in lines
        if line and not line.startswith("#")
    ]


def run(command, commands, directory=None, timeout=TIMEOUT):
    """Runs a debugger that reads commands from a file and returns what it prints."""
    script = "\n".join(commands + ["quit"]) + "\n"
    settings = [word for line in SETTINGS for word in ("-O", line)]
    reading, writing = os.pipe()
    os.write(writing, script.encode())
    os.close(writing)
    with subprocess.Popen(
        command + settings + ["-s", "/dev/fd/%d" % reading],
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=[reading],
        start_new_session=True,
    ) as process:
        os.close(reading)
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            fail("the session hangs", output.decode(errors="replace"))
    text = output.decode(errors="replace")
    # Another thread of LLDB's prints these, now or in the middle of an answer.
    text = re.sub(r"\d+ locations? added to breakpoint \d+\n", "", text)
    if process.returncode:
        fail("LLDB ended with status %d" % process.returncode, text)
    return text


def answers(output, commands):
    """Output cut by the commands that LLDB echoes: one answer a command."""
    found, at = [], 0
    for command in commands:
        echo = PROMPT + command + "\n"
        start = output.find(echo, at)
        if start < 0:
            fail("LLDB did not get to '%s'" % command, output)
        if found:
            found[-1] = output[at:start]
        at = start + len(echo)
        found.append("")
    found[-1] = output[at : output.find(PROMPT + "quit\n", at)]
    return found
