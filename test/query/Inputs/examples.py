# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the examples of docs/query.md and holds the answers to what they show.

    examples.py docs/query.md chronicle query trace.db

An example is a request, an indented line that starts with {, and the lines below it
that start with an arrow: what each answer must have in it. All examples go through one
session, and each once more as the argument of a run of its own.
"""
import json
import re
import subprocess
import sys


def fits(pattern, value):
    if pattern == "…":
        return value is not None
    if isinstance(pattern, dict):
        return isinstance(value, dict) and all(
            key in value and fits(part, value[key]) for key, part in pattern.items()
        )
    if isinstance(pattern, list):
        return (
            isinstance(value, list)
            and len(value) == len(pattern)
            and all(fits(p, v) for p, v in zip(pattern, value))
        )
    return type(pattern) is type(value) and pattern == value


def examples(path):
    found = []
    for line in open(path, encoding="utf-8"):
        if line.startswith("    {"):
            found.append((json.loads(line), []))
        elif line.startswith("    →"):
            found[-1][1].append(json.loads(line.strip()[1:]))
    return found


def final(answer):
    return "done" in answer or "error" in answer


def check(request, expected, answers):
    partial = sum((a["partial"] for a in answers if "partial" in a), [])
    last = [a for a in answers if final(a)]
    assert len(last) == 1 and last[0] is answers[-1], (request, answers)
    for pattern in expected:
        if "partial" in pattern:
            wanted = dict(pattern)
            have = {"id": last[0]["id"], "partial": partial}
        else:
            wanted, have = pattern, last[0]
        assert fits(wanted, have), "%s\nshould have\n  %s\nbut is\n  %s" % (
            json.dumps(request),
            json.dumps(wanted, ensure_ascii=False),
            json.dumps(have)[:3000],
        )


def main():
    document, command = sys.argv[1], sys.argv[2:]
    all_examples = examples(document)
    assert all(expected for _, expected in all_examples), "an example without answer"

    # Every command is described and has an example.
    text = open(document, encoding="utf-8").read()
    complaint = subprocess.run(
        command + ['{"cmd":"?"}'], stdout=subprocess.PIPE, text=True
    ).stdout
    commands = json.loads(complaint)["error"]["message"].split("there are:")[1].split()
    assert len(commands) > 20, commands
    for name in commands:
        assert re.search(r"^###.*\b%s\b" % re.escape(name), text, re.M), name
        assert any(r.get("cmd") == name for r, _ in all_examples), name

    # All in one session; the ids are made different from each other.
    session = []
    for number, (request, _) in enumerate(all_examples):
        session.append(json.dumps(dict(request, id="example %d" % number)))
    run = subprocess.run(
        command, input="\n".join(session), stdout=subprocess.PIPE, text=True
    )
    assert run.returncode == 0, run
    answers = {}
    for line in run.stdout.splitlines():
        answer = json.loads(line)
        answers.setdefault(answer["id"], []).append(answer)
    assert len(answers) == len(all_examples), run.stdout
    for number, (request, expected) in enumerate(all_examples):
        got = answers["example %d" % number]
        for answer in got:
            answer["id"] = request.get("id")
        check(request, expected, got)

    # Each on its own.
    for request, expected in all_examples:
        one = subprocess.run(
            command + [json.dumps(request)], stdout=subprocess.PIPE, text=True
        )
        got = [json.loads(line) for line in one.stdout.splitlines()]
        check(request, expected, got)
        assert one.returncode == (1 if "error" in got[-1] else 0), one
    print("%d examples, %d commands" % (len(all_examples), len(commands)))


main()
