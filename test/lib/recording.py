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


def record_command(trace, program, options=("--quiet",)):
    """The command that records a program. Removes an earlier trace of the same name."""
    if os.path.exists(trace):
        os.remove(trace)
    return [CHRONICLE, "record", *options, "-o", trace, "--", *program]


def record(trace, program):
    """Records a program and drops what it prints. Its exit status does not matter."""
    subprocess.run(record_command(trace, program), stdout=subprocess.DEVNULL, timeout=TIMEOUT)
    if not os.path.exists(trace):
        sys.exit("FAILED: chronicle record made no trace of %s" % program)


def ask(subcommand, trace):
    """Runs `chronicle info` or `chronicle verify`. Returns exit status, JSON and standard error."""
    done = subprocess.run(
        [CHRONICLE, subcommand, "--json", trace],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=TIMEOUT,
    )
    return done.returncode, done.stdout, done.stderr


def facts(subcommand, trace):
    """The JSON of the same commands as a dictionary, which is empty if the command failed."""
    status, output, _ = ask(subcommand, trace)
    return {} if status else json.loads(output)
