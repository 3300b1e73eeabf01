# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program without and with the recorder and fails if anything differs.

Both runs start in an empty directory of the same name, with the same arguments,
environment and input. Their standard output, standard error, exit status and the
files they leave must be equal, byte for byte. Then the trace must verify, and
`chronicle info` must agree with the run. Prints a few facts for FileCheck.

If CHRONICLE_TEST_LOG_LOADS is set to "always", the program is recorded once more, with
`--log-loads always`, and that recording must hold the same."""
import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys

import recording


def fail(message, *outputs):
    print("FAILED:", message)
    for output in outputs:
        sys.stdout.flush()
        sys.stdout.buffer.write(output[-4000:])
        print()
    sys.exit(1)


def files_in(directory):
    found = {}
    for root, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(root, name)
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    digest = hashlib.sha256(file.read()).hexdigest()
                found[os.path.relpath(path, directory)] = digest
    return found


def run(command, directory, options):
    """Runs a command in an empty directory. Returns its status, outputs and the files it left."""
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    for path in options.copy:
        shutil.copy(path, directory)
    with open(options.stdin or os.devnull, "rb") as stdin:
        process = subprocess.run(
            command,
            cwd=directory,
            stdin=stdin,
            env={} if options.empty_environment else None,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=recording.TIMEOUT,
        )
    return process.returncode, process.stdout, process.stderr, files_in(directory)


def compare(native, recorded, options):
    if native[0] != recorded[0]:
        fail(
            "status %d natively, %d recorded" % (native[0], recorded[0]),
            recorded[1],
            recorded[2],
        )
    if options.no_compare:
        return
    for index, name in ((1, "standard output"), (2, "standard error")):
        if native[index] != recorded[index]:
            fail(
                "%s differs (native first, then recorded)" % name,
                native[index],
                recorded[index],
            )
    if native[3] != recorded[3]:
        fail("the files left behind differ: native %s, recorded %s" % (native[3], recorded[3]))


def expected_end(status):
    if status >= 0:
        return "exit", status
    return "signal", -status


def facts_of(subcommand, trace):
    status, output, errors = recording.ask(subcommand, trace)
    if status:
        fail("chronicle %s ended with status %d" % (subcommand, status), output, errors)
    return json.loads(output)


def check_recording(native, directory, record_options, options):
    """Records the program and compares the recording with the native run. Returns what the
    program printed and the end of the trace."""
    record = recording.record_command(
        options.trace, options.command, ["--quiet"] + record_options
    )
    recorded = run(record, directory, options)
    if not os.path.exists(options.trace):
        fail("chronicle record made no trace; its status is %d" % recorded[0], *recorded[1:3])
    compare(native, recorded, options)

    if os.path.isdir(options.trace):
        status, output = recording.verify_all(options.trace)
        if status:
            fail("not all processes verify", output)
    verified = facts_of("verify", options.trace)
    facts = facts_of("info", options.trace)
    if facts.get("truncated"):
        fail("the trace is truncated: %s" % facts["truncated"])
    end = facts["end"]
    reason, code = expected_end(native[0])
    if options.end:
        reason, code = options.end, None
    if end["reason"] != reason or (code is not None and end["code"] != code):
        found = (end["reason"], end.get("code"))
        fail("expected the trace to end with %s, but it ends with %s" % ((reason, code), found))
    if options.threads is not None and end["threads"] != options.threads:
        fail("expected %d threads, found %d" % (options.threads, end["threads"]))
    if end["instructions"] < (options.instructions or 1000):
        fail("only %d instructions" % end["instructions"])
    if verified["instructions"] != end["instructions"]:
        fail("verified %d of %d instructions" % (verified["instructions"], end["instructions"]))
    if end["unreported-writes"] and not options.shared:
        fail("%d unreported writes" % end["unreported-writes"])
    if facts["run"]["arguments"][1:] != options.command[1:]:
        fail("the trace has the wrong arguments: %s" % facts["run"]["arguments"])
    if facts["run"]["directory"] != os.path.realpath(directory):
        fail("the trace has the wrong directory: %s" % facts["run"]["directory"])
    return recorded[1], end


def log_loads_too(record_options):
    """Whether the program is to be recorded with all loads logged, too."""
    if os.environ.get("CHRONICLE_TEST_LOG_LOADS") != "always":
        return False
    return not any("log-loads" in option for option in record_options)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trace", required=True)
    parser.add_argument("--stdin", help="file to read standard input from")
    parser.add_argument("--copy", action="append", default=[], help="file to start with")
    parser.add_argument("--with", dest="record_options", action="append", default=[])
    parser.add_argument("--no-compare", action="store_true", help="the output may differ")
    parser.add_argument("--end", help="how the trace must end, if not as the program ends")
    parser.add_argument("--threads", type=int, help="exact number of threads")
    parser.add_argument("--instructions", type=int, help="least number of instructions")
    parser.add_argument("--empty-environment", action="store_true")
    parser.add_argument("--shared", action="store_true", help="others may write its memory")
    parser.add_argument("--keep", action="store_true", help="keep the trace")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()

    directory = options.trace + ".dir"
    native = run(options.command, directory, options)
    if log_loads_too(options.record_options):
        print("once more, with --log-loads always")
        check_recording(
            native, directory, options.record_options + ["--log-loads=always"], options
        )
    output, end = check_recording(native, directory, options.record_options, options)

    print("ending: %s %s" % (end["reason"], end.get("code", "")))
    print("instructions:", end["instructions"])
    print("threads:", end["threads"])
    print("size:", recording.size(options.trace))
    print("outside writes:", end.get("outside-writes", 0))
    print("--- standard output")
    sys.stdout.flush()
    sys.stdout.buffer.write(output[-20000:])
    if not options.keep:
        recording.remove(options.trace)
    shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
