# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Starts `chronicle record`, `info` and `verify` for the other scripts."""
import json
import os
import shutil
import subprocess
import sys

# Seconds. No step of a test takes this long, even on a machine under load, unless it hangs.
TIMEOUT = 600
# The full path, because some programs are recorded with an empty environment.
CHRONICLE = shutil.which("chronicle")


def remove(trace):
    """Removes a trace, or all of a run, if there is one."""
    if os.path.isdir(trace):
        shutil.rmtree(trace)
    elif os.path.exists(trace):
        os.remove(trace)


def size(trace):
    """The size of a trace, or of all of a run."""
    if not os.path.isdir(trace):
        return os.path.getsize(trace)
    return sum(os.path.getsize(os.path.join(trace, name)) for name in os.listdir(trace))


def record_command(trace, program, options=("--quiet",)):
    """The command that records a program. Removes an earlier trace of the same name."""
    remove(trace)
    return [CHRONICLE, "record", *options, "-o", trace, "--", *program]


def record(trace, program):
    """Records a program and drops what it prints. Its exit status does not matter."""
    subprocess.run(record_command(trace, program), stdout=subprocess.DEVNULL, timeout=TIMEOUT)
    if not os.path.exists(trace):
        sys.exit("FAILED: chronicle record made no trace of %s" % program)


def ask(subcommand, trace):
    """Runs `chronicle info` or `chronicle verify`. Returns exit status, JSON and standard error.
    Of a run of several processes, asks about the first."""
    which = ["--process", "#1"] if os.path.isdir(trace) else []
    done = subprocess.run(
        [CHRONICLE, subcommand, "--json", *which, trace],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=TIMEOUT,
    )
    return done.returncode, done.stdout, done.stderr


def verify_all(trace):
    """Verifies all processes of a run. Returns exit status and output."""
    done = subprocess.run(
        [CHRONICLE, "verify", "--process", "all", trace],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=TIMEOUT,
    )
    return done.returncode, done.stdout


def facts(subcommand, trace):
    """The JSON of the same commands as a dictionary, which is empty if the command failed."""
    status, output, _ = ask(subcommand, trace)
    return {} if status else json.loads(output)
