# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps through a program with LLDB, forward and back again, and checks that

- LLDB's step-in stops at the same lines in the live program and in the trace;
- reverse-step, from the last of these stops, leads to all of them, newest first, except stops in
  the middle of a line, where LLDB returns from a call;
- reverse-next undoes step-over, if step-over stayed in its function;
- reverse-finish leads to the instruction that calls the function.

The source marks the first and the last line by `// line: start` and `// line: end`. In optimised
code reverse-step may stop at more lines (--more, in percent): going forward, LLDB steps from one
inlined function to another without the line between them."""
import argparse
import json
import os
from collections import namedtuple

import debugger
import recording
import split

# A stop: its line, the number of its frames, its time (0 if not known) and its thread.
Stop = namedtuple("Stop", "place depth time thread")
# Starts each frame, because its fields are empty where code has no lines.
MARK = "@@ "
MADE_UP = " made-up"  # LLDB infers the frame of a function that ended by a tail call
INLINED = " inlined"
SETTINGS = [
    'settings set frame-format "%s{${line.file.basename}:${line.number}} '
    '{${function.name-without-args}}{${function.is-inlined}%s}'
    '{${frame.is-artificial}%s}\\n"' % (MARK, INLINED, MADE_UP),
    "settings set stop-line-count-before 0",
    "settings set stop-line-count-after 0",
    "process handle SIGUSR1 --stop false --notify false --pass true",
]
BACKTRACE = "thread backtrace"
NOW = "chronicle now --json"


def frames(text):
    lines = [line.partition(MARK)[2] for line in text.splitlines() if MARK in line]
    return [line for line in lines if not line.endswith(MADE_UP)]


class Program:
    def __init__(self, options, program):
        self.trace, self.program = options.trace, program
        marks = split.marked_lines(options.source)
        self.file = os.path.basename(options.source)
        self.to_start = "breakpoint set --one-shot true --file %s --line %d" % (
            self.file,
            marks["start"],
        )
        self.end = "%s:%d " % (self.file, marks["end"])
        recording.record(self.trace, [program])

    def live(self, moves):
        """The stops of the live program."""
        commands = SETTINGS + [self.to_start, "process launch --no-stdio"]
        return self.stops(debugger.on_program(self.program), commands, moves, [])

    def traced(self, commands, moves):
        return self.stops(debugger.on_trace(self.trace), SETTINGS + commands, moves, [NOW])

    def stops(self, lldb, commands, moves, moment):
        """The stop after each move. A move is a list of commands."""
        look = [BACKTRACE] + moment
        for move in moves:
            commands = commands + move + look
        answers, _ = debugger.lldb_answers(lldb, commands)
        found = []
        for at, command in enumerate(commands):
            if command != BACKTRACE:
                continue
            there = frames(answers[at])
            if not there:  # the program has ended
                break
            now = json.loads(answers[at + 1]) if moment else {}
            found.append(
                Stop(there[0], len(there), now.get("time", 0), now.get("thread"))
            )
        return found

    def until_end(self, stops):
        for count, stop in enumerate(stops, 1):
            if stop.place.startswith(self.end):
                return stops[:count]
        debugger.fail("the steps did not reach %s" % self.end)


def differences(name, expected, found):
    text = debugger.difference(expected, found, context=2)
    if text:
        debugger.fail(name, text)


def line_starts(stops):
    """Without the stops at which a call returned to the middle of its line."""
    line, before, result = {}, 0, []
    for stop in stops:
        if stop.depth >= before or line.get(stop.depth) != stop.place:
            result.append(stop)
        before = stop.depth
        line[stop.depth] = stop.place
    return result


def shown(stops):
    return ["%d %s" % (stop.time, stop.place) for stop in stops]


def check_into(program, forward, more):
    """Checks reverse-step from the last stop to the first; returns the number of stops."""
    expected = line_starts(forward)
    most = len(expected) * (100 + more) // 100
    back = program.traced(
        ["chronicle goto %d" % forward[-1].time], [[]] + [["rs"]] * (most - 1)
    )
    back = [stop for stop in back if stop.time >= forward[0].time][::-1]
    if more:
        have = set(shown(expected))
        back = [stop for stop in back if "%d %s" % (stop.time, stop.place) in have]
    differences("reverse-step", shown(expected), shown(back))
    return len(expected)


def check_over(program, starts):
    """Checks step-over and reverse-next from each of these stops."""
    moves = []
    for stop in starts:
        moves += [["chronicle goto %d" % stop.time], ["thread step-over"], ["rn"]]
    stops = program.traced([], moves)
    checked = 0
    for here, over, back in zip(stops[0::3], stops[1::3], stops[2::3]):
        if over.depth != here.depth or over.thread != here.thread:
            continue
        checked += 1
        if (back.time, back.place) != (here.time, here.place):
            debugger.fail(
                "step-over from %s and reverse-next" % (here,),
                "%s\n%s" % (over, back),
            )
    return checked


def check_out(program, starts):
    """Checks reverse-finish and one instruction forward from each of these stops."""
    moves = []
    for stop in starts:
        moves += [["chronicle goto %d" % stop.time], ["rf"], ["thread step-inst"]]
    stops = program.traced([], moves)
    for here, call, entry in zip(stops[0::3], stops[1::3], stops[2::3]):
        if (
            (call.depth, entry.depth) != (here.depth - 1, here.depth)
            or entry.time != call.time + 1
            or entry.time > here.time
        ):
            debugger.fail(
                "reverse-finish from %s" % (here,), "%s\n%s" % (call, entry)
            )
    return len(starts)


def check(options, build, program):
    debugger.build(build, program, options.source)
    run = Program(options, program)
    steps = [[]] + [["thread step-in"]] * options.steps
    live = run.until_end(run.live(steps))
    steps = steps[: len(live)]
    forward = run.traced(
        ["chronicle goto start", run.to_start, "process continue"], steps
    )
    differences(
        "step-in, live and traced",
        [stop.place for stop in live],
        [stop.place for stop in forward],
    )
    into = check_into(run, forward, options.more)
    # `chronicle goto` selects the thread that runs at that time, and always shows the same
    # inlined frame there.
    once = [
        stop
        for stop in line_starts(forward)[1:-1]
        if stop.thread == 1
        and sum(other.time == stop.time for other in forward) == 1
    ]
    some = once[:: max(1, len(once) // 40)]
    over = check_over(run, some)
    inner = [
        stop
        for stop in some
        if stop.depth > forward[0].depth and not stop.place.endswith(INLINED)
    ]
    out = check_out(run, inner)
    print(
        "%s: %d steps forward, %d back, %d over and back, %d out"
        % (build, len(forward), into, over, out)
    )
    if not (into and over and out):
        debugger.fail("nothing was checked")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trace", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--build", action="append", required=True)
    parser.add_argument("--steps", type=int, default=400, help="maximum (default 400)")
    parser.add_argument("--more", type=int, default=0, help="percent (default 0)")
    parser.add_argument("program")
    options = parser.parse_args()
    for number, build in enumerate(options.build):
        check(options, build, "%s.%d" % (options.program, number))


main()
