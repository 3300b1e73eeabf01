# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs relations.c natively and recorded, in a given place among the processes, and fails if its
parent or the program itself sees a difference. Prints what both saw.

    stage.py PROGRAM TRACE PLACE MODE [KEYS]

PLACE: member (of its parent's process group), leader (of a group of its own), session (leader of
a session of its own), terminal (the foreground job of a terminal), background (the parent ends).
KEYS are typed on the terminal once the program is ready: ^C, ^Z and so on.

The stage is the parent of the program and leads a process group in which nothing else is. It keeps
the signals that reach it pending and reports them at the end."""
import ctypes
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time

import recording

program, trace, place, mode, *keys = sys.argv[1:]
ALL = set(range(1, 65)) - {signal.SIGKILL, signal.SIGSTOP, 32, 33}


def start(command):
    """Forks the program and returns its process number."""
    child = os.fork()
    if child:
        return child
    if place in ("leader", "terminal"):
        os.setpgid(0, 0)
    elif place == "session":
        os.setsid()
    if place == "terminal":
        os.tcsetpgrp(0, os.getpid())
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    if mode == "parent":
        signal.alarm(1000)
    os.execv(command[0], command)


class Value(ctypes.Union):
    _fields_ = [("number", ctypes.c_int), ("pointer", ctypes.c_void_p)]


def signal_from_outside(child):
    for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGABRT):
        os.kill(child, number)
    ctypes.CDLL(None).sigqueue(child, signal.SIGRTMIN + 3, Value(number=42))


def report_end(status):
    if os.WIFSIGNALED(status):
        print("stage: died of", os.WTERMSIG(status))
    else:
        print("stage: exited with", os.WEXITSTATUS(status))


def stage(command, output):
    """The parent of the program. What it sees goes to the output, too."""
    if place != "terminal":
        os.setpgid(0, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, ALL)
    os.dup2(output, 1)
    if place == "background":
        # Nothing waits for `chronicle record`, which holds standard error open until it ends.
        os.dup2(output, 2)
    os.environ["STAGE"] = str(os.getpid())
    child = start(command)
    if place == "background":
        # Ends once the program is ready, which the other side of the output sees.
        os.read(0, 1)
        os._exit(0)
    if mode == "from-outside":
        os.read(0, 1)
        signal_from_outside(child)
    continued = 0
    while True:
        _, status = os.waitpid(child, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            break
        print("stage: stopped by", os.WSTOPSIG(status), flush=True)
        if mode == "continued-by-child":
            continue
        continued += 1
        # Either way is natural: a shell continues the group, others the process.
        to_group = place == "terminal" or (place == "leader" and continued % 2)
        (os.killpg if to_group else os.kill)(child, signal.SIGCONT)
    report_end(status)
    arrived = set()
    while True:
        info = signal.sigtimedwait(ALL - {signal.SIGCHLD}, 0)
        if not info:
            break
        arrived.add(info.si_signo)
    print("stage: got", *sorted(arrived), flush=True)
    os._exit(0)


def type_keys(terminal):
    for key in keys:
        os.write(terminal, bytes([ord(key[1]) & 31]))
        time.sleep(0.3)


def watch(command):
    """Runs the stage and returns everything that was printed, sorted by who printed it."""
    reading, writing = os.pipe()
    os.set_inheritable(writing, False)
    if place == "terminal":
        child, terminal = pty.fork()
    else:
        stdin, terminal = os.pipe()
        child = os.fork()
        if child == 0:
            os.dup2(stdin, 0)
            os.close(terminal)
    if child == 0:
        try:
            os.close(reading)
            stage(command, writing)
        finally:
            os._exit(125)
    os.close(writing)
    text = b""
    told = False
    while True:
        data = os.read(reading, 65536)
        if not data:
            break
        text += data
        if not told and b"ready\n" in text:
            told = True
            type_keys(terminal) if place == "terminal" else os.write(terminal, b"\n")
    os.waitpid(child, 0)
    lines = text.decode().splitlines()
    mine = [line for line in lines if line.startswith("stage: ")]
    return [line for line in lines if line not in mine] + mine


def fail(message):
    print("FAILED:", message)
    sys.exit(1)


signal.alarm(recording.TIMEOUT)
native = watch([program, mode])
recorded = watch(recording.record_command(trace, [program, mode]))
print("\n".join(native))
if native != recorded:
    fail("recorded it was:\n" + "\n".join(recorded))
if recording.ask("verify", trace)[0]:
    fail("the trace does not verify")
end = recording.facts("info", trace)["end"]
if (end["reason"], end["code"]) != ("exit", 7):
    fail("the trace ends with %s %s" % (end["reason"], end["code"]))
# A program that forks has a directory of traces.
shutil.rmtree(trace) if os.path.isdir(trace) else os.remove(trace)
