# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs one file of gdb commands twice, on `chronicle serve` of a recorded run and
on gdb's own recording of the living program (`record full`), both stopped where
the function `finished` is entered, and insists that gdb says the same.

Addresses are where the kernel or Valgrind puts things, and are not compared."""
import argparse
import difflib
import re
import subprocess
import sys

TIMEOUT = 600


def gdb(program, before, session):
    """What gdb answers to the commands of a session, one text a command."""
    with open(session) as file:
        commands = [line.strip() for line in file if line.strip()]
    script = ["set pagination off", "set confirm off", "set width 0"]
    script += before + ["echo === session\\n"]
    # The end is gdb's farewell, which is not compared.
    for command in commands + ["quit"]:
        script += ["echo === %s\\n" % command.replace("\\", "\\\\"), command]
    words = ["gdb", "-nx", "-q", program]
    done = subprocess.run(
        words,
        input="\n".join(script) + "\n",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=TIMEOUT,
        text=True,
    )
    output = done.stdout.replace("(gdb) ", "")
    if "=== session\n" not in output:
        sys.exit("FAILED: gdb did not get to the session\n" + output)
    output = output.split("=== session\n", 1)[1]
    found = re.split(r"^=== .*\n", output, flags=re.MULTILINE)[1:-1]
    if len(found) != len(commands):
        sys.exit("FAILED: %d answers to %d commands\n%s" % (len(found), len(commands), output))
    return commands, found


def without_places(text):
    text = text.replace("Hardware watchpoint", "Watchpoint")
    # The numbers of values depend on how many functions have returned some.
    text = re.sub(r"\$\d+ = ", "", text)
    text = re.sub(r"\bThread \d+(\.\d+)?", "Thread", text)
    text = re.sub(r"\b0x0*[1-9a-f][0-9a-f]{4,11}\b", "ADDRESS", text)
    return [re.sub(r"\s+", " ", line).strip() for line in text.splitlines()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--chronicle", required=True)
    parser.add_argument("--trace", required=True)
    parser.add_argument("program")
    parser.add_argument("session")
    options = parser.parse_args()
    record = [options.chronicle, "record", "--quiet", "--force", "-o", options.trace]
    subprocess.run(record + ["--", options.program], check=True, timeout=TIMEOUT)

    with subprocess.Popen(
        [options.chronicle, "serve", "--once", options.trace],
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        place = server.stdout.readline().split()[-1]
        _, found = gdb(
            options.program,
            ["target remote " + place, "tbreak main", "delete"]
            + ["tbreak finished", "reverse-continue"],
            options.session,
        )
        server.wait(timeout=TIMEOUT)
    commands, expected = gdb(
        options.program,
        # The processor's watchpoints see nothing of what gdb replays.
        ["set can-use-hw-watchpoints 0", "tbreak main", "run", "record full"]
        + ["tbreak finished", "continue"],
        options.session,
    )
    wrong = 0
    for command, one, other in zip(commands, expected, found):
        print("(gdb) %s\n%s" % (command, other), end="")
        difference = difflib.unified_diff(
            without_places(one),
            without_places(other),
            "record full",
            "chronicle",
            lineterm="",
        )
        text = "\n    ".join(difference)
        if text:
            wrong += 1
            print("WRONG: %s\n    %s" % (command, text))
    if wrong:
        sys.exit("FAILED: %d answers are not gdb's own" % wrong)


if __name__ == "__main__":
    main()
