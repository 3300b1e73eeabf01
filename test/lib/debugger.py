# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs LLDB and gdb over lists of commands, on a trace or on a live program, and compares what
they print. Every session of the tests goes through here, except those in a terminal (terminal.py).

A session that does not end in time fails: its processes are killed, and the test shows what it
had printed."""
import contextlib
import difflib
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile

import recording

TIMEOUT = recording.TIMEOUT
PROMPT = "(lldb) "
# With these a session prints the same on a trace and on a live program: no colours, no
# disassembly at stops, no debug files from elsewhere.
SETTINGS = [
    "settings set use-color false",
    "settings set stop-disassembly-display never",
    "settings set symbols.enable-external-lookup false",
    # LLDB prints these warnings from another thread, before or after the answer.
    "settings set target.process.optimization-warnings false",
    "settings set target.max-string-summary-length 80",
    "settings set interpreter.prompt-on-quit false",
    "settings set interpreter.stop-command-source-on-error false",
]


def on_trace(trace):
    """The command that starts LLDB on a trace."""
    return ["chronicle", "debug", trace, "-x"]


def on_program(program):
    """The command that starts LLDB on a program that is not running yet."""
    return ["lldb-22", "-x", program]


def fail(message, output=""):
    print("FAILED:", message)
    print(output[-30000:])
    sys.exit(1)


def commands_of(path):
    """The commands of a session file. Empty lines and lines that start with # are not commands."""
    with open(path) as file:
        lines = [line.strip() for line in file]
    return [line for line in lines if line and not line.startswith("#")]


def build(compiler, program, source):
    """Compiles a source; `compiler` is a command with its flags."""
    command = shlex.split(compiler) + ["-o", program, source]
    subprocess.run(command, check=True, timeout=TIMEOUT)


def run(command, text=None, directory=None):
    """Runs a debugger in a process group of its own; returns its exit status and its output."""
    with subprocess.Popen(
        command,
        cwd=directory,
        stdin=subprocess.PIPE if text else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(text.encode() if text else None, TIMEOUT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            fail("the session did not end in %d seconds" % TIMEOUT, output.decode(errors="replace"))
    return process.returncode, output.decode(errors="replace")


def lldb(command, commands, settings=SETTINGS, directory=None):
    """Runs LLDB over a file of these commands, so that it waits for the end of each. Returns what
    it prints, with its prompts."""
    with tempfile.NamedTemporaryFile("w", suffix=".lldb") as script:
        script.write("\n".join(commands + ["quit"]) + "\n")
        script.flush()
        words = [word for line in settings for word in ("-O", line)]
        status, text = run(command + words + ["-s", script.name], directory=directory)
    # LLDB prints these from another thread, at any time.
    text = re.sub(r"\d+ locations? added to breakpoint \d+\n", "", text)
    if status:
        fail("LLDB ended with status %d" % status, text)
    return text


def lldb_answers(command, commands, settings=SETTINGS, directory=None):
    """Runs LLDB. Returns its answer to each of the commands, and all of its output."""
    output = lldb(command, commands, settings, directory)
    starts, ends = [], []
    at = 0
    for text in commands + ["quit"]:
        echo = PROMPT + text + "\n"
        start = output.find(echo, at)
        if start < 0:
            fail("LLDB did not read the command '%s'" % text, output)
        at = start + len(echo)
        ends.append(start)
        starts.append(at)
    return [output[start:end] for start, end in zip(starts, ends[1:])], output


@contextlib.contextmanager
def served(trace):
    """Starts `chronicle serve` for one debugger, and gives its address."""
    with subprocess.Popen(
        ["chronicle", "serve", "--once", trace], stdout=subprocess.PIPE, text=True
    ) as server:
        yield server.stdout.readline().split()[-1]
        if server.wait(TIMEOUT):
            fail("chronicle serve ended with status %d" % server.returncode)


def gdb_answers(program, before, commands):
    """Runs gdb. Returns its answer to each of the commands, but not to those of `before`."""
    mark = "=== "
    script = ["set pagination off", "set confirm off", "set width 0"]
    script += before + ["echo %ssession\\n" % mark]
    # The last answer is what gdb prints when it ends.
    for command in commands + ["quit"]:
        script += ["echo %s%s\\n" % (mark, command.replace("\\", "\\\\")), command]
    _, output = run(["gdb", "-nx", "-q", program], "\n".join(script) + "\n")
    output = output.replace("(gdb) ", "")
    _, reached, session = output.partition(mark + "session\n")
    if not reached:
        fail("gdb did not reach the session", output)
    answers = re.split(r"^%s.*\n" % mark, session, flags=re.MULTILINE)[1:-1]
    if len(answers) != len(commands):
        fail("%d answers to %d commands" % (len(answers), len(commands)), session)
    return answers


def served_gdb_answers(trace, program, before, commands):
    """The same with gdb on a trace, through `chronicle serve`."""
    with served(trace) as place:
        return gdb_answers(program, ["target remote " + place] + before, commands)


def without_places(text):
    """The lines of an answer without what depends on where the kernel or Valgrind puts things. The
    width of columns follows the addresses in them."""
    text = re.sub(r"\b0x0*[1-9a-f][0-9a-f]{4,11}\b", "ADDRESS", text)
    return [re.sub(r"\s+", " ", line).strip() for line in text.splitlines()]


def difference(expected, found, names=("expected", "found"), context=3):
    """The differences of two lists of lines; an empty text if there are none."""
    lines = difflib.unified_diff(expected, found, *names, lineterm="", n=context)
    return "\n    ".join(lines)
