# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs programs and measures what they cost. No program outlives an interrupt."""
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time


class BenchError(Exception):
    """One sentence about a problem that the user can solve."""


def progress(message):
    print("bench: " + message, file=sys.stderr, flush=True)


class Outcome:
    """Elapsed time, processor time and largest process of a command."""

    def __init__(self, seconds, usage):
        self.seconds = seconds
        self.cpu_seconds = usage.ru_utime + usage.ru_stime
        self.peak_kb = usage.ru_maxrss


@contextlib.contextmanager
def started(command, **options):
    """Runs a process in a session of its own. If the block ends early, kills it and its children."""
    process = subprocess.Popen([str(part) for part in command], start_new_session=True, **options)
    try:
        yield process
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def run(command, stdin=None, stdout=subprocess.DEVNULL, directory=None, environment=None, may_fail=False):
    """Runs a command to its end. Its standard error is shown only if it fails."""
    source = open(stdin, "rb") if stdin else subprocess.DEVNULL
    with tempfile.TemporaryFile() as errors:
        begin = time.monotonic()
        with started(
            command, stdin=source, stdout=stdout, stderr=errors, cwd=directory, env=environment
        ) as process:
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.monotonic() - begin
            process.returncode = os.waitstatus_to_exitcode(status)
        if stdin:
            source.close()
        if process.returncode and not may_fail:
            errors.seek(0)
            said = errors.read()[-1500:].decode(errors="replace").strip()
            raise BenchError(
                "'%s' ended with status %d: %s"
                % (" ".join(str(part) for part in command), process.returncode, said or "it printed nothing")
            )
    return Outcome(seconds, usage)


def output_of(command, **options):
    """What a command prints on standard output."""
    with tempfile.TemporaryFile() as output:
        run(command, stdout=output, **options)
        output.seek(0)
        return output.read().decode()
