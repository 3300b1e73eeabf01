# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the sessions of docs/lldb.md and holds LLDB's answers to what they show.

    docs.py docs/lldb.md trace.db

A session is an indented block with lines that start with "(lldb) "; the lines below such
a line are what LLDB prints. "…" stands for anything, a line of its own for any lines.
Every `chronicle` command must be described in the document and used in a session, and
its help must have examples.
"""
import re
import subprocess
import sys
import tempfile

document, trace = sys.argv[1:]
PROMPT = "(lldb) "


def sessions(path):
    """Lists of (command, expected lines)."""
    found, block = [], None
    for line in open(path, encoding="utf-8"):
        if not line.startswith("    "):
            if line.strip():
                block = None
            continue
        line = line[4:].rstrip()
        if line.startswith(PROMPT):
            if block is None:
                block = []
                found.append(block)
            block.append((line[len(PROMPT) :], []))
        elif block:
            block[-1][1].append(line)
    return found


def lldb(commands):
    """What each command printed."""
    # From a file, so that each command is waited for.
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as script:
        script.write("\n".join(commands + ["quit"]) + "\n")
        script.flush()
        done = subprocess.run(
            ["chronicle", "debug", trace, "-x", "-s", script.name],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=600,
        )
    answers, rest = [], done.stdout
    for one in commands:
        start = rest.find(PROMPT + one + "\n")
        assert start >= 0, "%r was not run:\n%s" % (one, done.stdout)
        rest = rest[start + len(PROMPT) + len(one) + 1 :]
        end = rest.find(PROMPT)
        answers.append(rest[:end])
    return answers


def pattern(lines):
    parts = []
    for line in lines:
        if line.strip() == "…":
            parts.append(r"(?:.*\n)*?")
        else:
            words = [
                r"[^\n]*?".join(re.escape(p) for p in word.split("…"))
                for word in line.split()
            ]
            # Columns are as wide as they need to be.
            parts.append(r"[ \t]*" + r"[ \t]+".join(words) + r"[ \t]*\n")
    return "".join(parts)


count, used = 0, set()
for session in sessions(document):
    answers = lldb([command for command, _ in session])
    for (command, expected), answer in zip(session, answers):
        assert re.fullmatch(pattern(expected), answer), (
            "(lldb) %s\nshould print\n%s\nbut prints\n%s"
            % (command, "\n".join(expected), answer)
        )
        count += 1
        words = command.split()
        if words[0] == "chronicle":
            used.add(words[1])

text = open(document, encoding="utf-8").read()
names = re.findall(r"^ +([a-z][a-z-]*) +-- ", lldb(["help chronicle"])[0], re.M)
assert len(names) > 20, names
for name in names:
    assert "`chronicle %s" % name in text, "%s is not described" % name
    assert name in used or name.startswith("reverse-") or name == "load", (
        "no session uses %s" % name
    )
helps = lldb(["help chronicle " + name for name in names])
for name, answer in zip(names, helps):
    assert "Examples:" in answer, "the help of %s has no examples" % name
print("%d commands answered as documented, %d have help" % (count, len(names)))
