# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Evaluates random expressions that call functions at random moments, on a recorded run and on the
live program. Fails if LLDB prints different values, or if the state of the trace (moment,
registers, memory, frames) is not the same before and after.

The program is Inputs/random-calls.cpp."""
import argparse
import random
import re

import debugger
import recording

STATE = [
    "chronicle now",
    "register read --all",
    "bt",
    "frame info",
    "memory read --force -c 4096 -f x -s 8 $rsp-512",
    "p State",
    "p Text",
    "p Numbers",
]


def expression(source):
    """A random expression, some of which contain others."""
    number = lambda: str(source.randint(-20, 200))
    small = lambda: str(source.randint(0, 6))
    leaves = [
        number,
        lambda: "Local",
        lambda: "I",
        lambda: "State",
        lambda: "Numbers.size()",
        lambda: "Points.size()",
        lambda: "sumNumbers()",
        lambda: "(int)Owned->area()",
        lambda: "Here[%s]" % small(),
        lambda: "Numbers[%s]" % small(),
        lambda: "Points[%s].Y" % small(),
        lambda: "lengthOf(\"%s\")" % ("x" * source.randint(0, 40)),
        lambda: "lengthOf(pick(%s))" % number(),
        lambda: "perThread(%s)" % number(),
        lambda: "caught(%s)" % small(),
        lambda: "(Here < There)",
        lambda: "sumOf(wide(%s))" % number(),
        lambda: "(Here + There).X",
    ]

    def term(depth):
        if depth == 0 or source.random() < 0.4:
            return source.choice(leaves)()
        inner = lambda: term(depth - 1)
        return source.choice(
            [
                lambda: "add(%s, %s)" % (inner(), inner()),
                lambda: "subtract(%s, %s)" % (inner(), inner()),
                lambda: "chosen(%s, %s)" % (inner(), inner()),
                lambda: "total(3, (int)%s, (int)%s, (int)%s)" % (inner(), inner(), inner()),
                lambda: "(%s + %s)" % (inner(), inner()),
                lambda: "power(%s, %s)" % (inner(), small()),
            ]
        )()

    tops = [
        lambda: term(3),
        lambda: term(2),
        lambda: "::half(%s)" % term(1),
        lambda: "third(%s)" % term(1),
        lambda: "(double)quarter(%s)" % term(1),
        lambda: "isEven(%s)" % term(1),
        lambda: "letter(%s)" % source.randint(0, 100),
        lambda: "byteOf(%s)" % term(1),
        lambda: "colour(%s)" % source.randint(0, 100),
        lambda: "pointAt(%s)" % source.randint(0, 1000),
        lambda: "mixed(%s)" % number(),
        lambda: "wide(%s)" % number(),
        lambda: "label(%s)" % number(),
        lambda: "pick(%s)" % number(),
        lambda: "multiples(%s, %s)" % (small(), number()),
        lambda: "names(%s)" % small(),
        lambda: "blend(%s, 2, 3, 4, 5, 6, 7, 8, 9, %s)" % (number(), number()),
        lambda: "areaOf(*Shapes[%d])" % source.randint(0, 1),
        lambda: "nameOf(Shapes[%d])" % source.randint(0, 1),
        lambda: "Shapes[%d]->name()" % source.randint(0, 1),
        lambda: "Here + pointAt(%s)" % small(),
        lambda: "Text.c_str()",
        lambda: "\"a literal\"",
    ]
    return source.choice(tops)()


def without_places(text):
    return [line for line in debugger.without_places(text) if line]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trace", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--moments", type=int, default=4)
    parser.add_argument("--expressions", type=int, default=8, help="at each moment")
    parser.add_argument("program")
    options = parser.parse_args()
    source = random.Random(options.seed)
    # Expressions use the first seven elements.
    hits = sorted(source.sample(range(8, 38), options.moments))
    live, traced, kinds = [], [], []

    def both(command):
        live.append(command)
        traced.append(command)
        kinds.append("both")

    def state():
        for command in STATE:
            traced.append(command)
            kinds.append("state")

    for command in [
        "settings set target.max-string-summary-length 200",
        "settings set target.max-children-count 256",
        "breakpoint set -f random-calls.cpp -p 'line: ticked'",
    ]:
        both(command)
    at = 0
    for hit in hits:
        both("breakpoint modify -i %d 1" % (hit - at - 1))
        both("process continue")
        at = hit
        state()
        for _ in range(options.expressions):
            both("p " + expression(source))
        state()
    recording.record(options.trace, [options.program])
    launch = "process launch --stop-at-entry --no-stdio"
    there, _ = debugger.lldb_answers(debugger.on_program(options.program), [launch] + live)
    here, output = debugger.lldb_answers(
        debugger.on_trace(options.trace), ["chronicle goto start"] + traced
    )
    there, here = there[1:], here[1:]
    wrong, compared = [], 0
    before = None
    for command, kind, answer in zip(traced, kinds, here):
        if kind == "state":
            continue
        other = there.pop(0)
        if not command.startswith("p "):
            continue
        compared += 1
        if without_places(answer) != without_places(other):
            wrong.append("%s\ntrace: %slive:  %s" % (command, answer, other))
    # The two states around each group of expressions.
    states = [answer for kind, answer in zip(kinds, here) if kind == "state"]
    groups = [states[i : i + len(STATE)] for i in range(0, len(states), len(STATE))]
    for before, after in zip(groups[::2], groups[1::2]):
        for command, first, second in zip(STATE, before, after):
            if first != second:
                wrong.append("%s\nbefore: %safter:  %s" % (command, first, second))
    errors = sum("error:" in answer for answer in here)
    if wrong:
        debugger.fail("%d of %d answers are wrong:\n%s" % (len(wrong), compared, "\n".join(wrong)))
    print("%d expressions at %d moments, %d errors" % (compared, options.moments, errors))


main()
