# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program without and with the recorder and insists that nothing differs.

Both runs start in an empty directory of the same name, with the same arguments,
environment and input. Their standard output, standard error, exit status and the
files they leave must be equal, byte for byte. Then the trace must verify, and what
`chronicle info` says must agree with what happened. Prints a few facts for FileCheck."""
import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys

TIMEOUT = 500


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
    """Runs a command in a fresh directory; returns status, outputs and files left."""
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
            timeout=TIMEOUT,
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
                "%s differs, first native, then recorded" % name,
                native[index],
                recorded[index],
            )
    if native[3] != recorded[3]:
        fail("the files left behind differ: %s, %s" % (native[3], recorded[3]))


def expected_end(status):
    if status >= 0:
        return "exit", status
    return "signal", -status


def chronicle_json(options, command):
    process = subprocess.run(
        [options.chronicle, command, "--json", options.trace],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=TIMEOUT,
    )
    return process.returncode, process.stdout, process.stderr


def verify(options):
    status, output, errors = chronicle_json(options, "verify")
    if status:
        fail("chronicle verify gave %d" % status, output, errors)
    return json.loads(output)


def info(options):
    status, output, errors = chronicle_json(options, "info")
    if status:
        fail("chronicle info gave %d" % status, output, errors)
    return json.loads(output)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--chronicle", required=True)
    parser.add_argument("--trace", required=True)
    parser.add_argument("--stdin", help="file to read standard input from")
    parser.add_argument("--copy", action="append", default=[], help="file to start with")
    parser.add_argument("--with", dest="record_options", action="append", default=[])
    parser.add_argument("--no-compare", action="store_true", help="the output may differ")
    parser.add_argument("--end", help="how the trace must end, if not as the program")
    parser.add_argument("--threads", type=int, help="how many threads there must be")
    parser.add_argument("--instructions", type=int, help="at least so many")
    parser.add_argument("--empty-environment", action="store_true")
    parser.add_argument("--shared", action="store_true", help="others may write its memory")
    parser.add_argument("--keep", action="store_true", help="keep the trace")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()

    directory = options.trace + ".dir"
    if os.path.exists(options.trace):
        os.remove(options.trace)
    native = run(options.command, directory, options)
    record = [options.chronicle, "record", "--quiet", "-o", options.trace]
    record += options.record_options + ["--"]
    recorded = run(record + options.command, directory, options)
    if not os.path.exists(options.trace):
        fail("no trace was made; status %d" % recorded[0], recorded[1], recorded[2])
    compare(native, recorded, options)

    verified = verify(options)
    facts = info(options)
    if facts.get("truncated"):
        fail("the trace is truncated: %s" % facts["truncated"])
    end = facts["end"]
    reason, code = expected_end(native[0])
    if options.end:
        reason, code = options.end, None
    if end["reason"] != reason or (code is not None and end["code"] != code):
        fail("the trace ends with %s %s, not %s %s" % (end["reason"], end.get("code"), reason, code))
    if options.threads is not None and end["threads"] != options.threads:
        fail("%d threads, not %d" % (end["threads"], options.threads))
    if end["instructions"] < (options.instructions or 1000):
        fail("only %d instructions" % end["instructions"])
    if verified["instructions"] != end["instructions"]:
        fail("verified %d of %d instructions" % (verified["instructions"], end["instructions"]))
    if end["unreported-writes"] and not options.shared:
        fail("%d unreported writes" % end["unreported-writes"])
    if facts["run"]["arguments"][1:] != options.command[1:]:
        fail("arguments recorded as %s" % facts["run"]["arguments"])
    if facts["run"]["directory"] != os.path.realpath(directory):
        fail("directory recorded as %s" % facts["run"]["directory"])

    print("ending: %s %s" % (end["reason"], end.get("code", "")))
    print("instructions:", end["instructions"])
    print("threads:", end["threads"])
    print("size:", os.path.getsize(options.trace))
    print("outside writes:", end.get("outside-writes", 0))
    print("--- standard output")
    sys.stdout.flush()
    sys.stdout.buffer.write(recorded[1][-2000:])
    if not options.keep:
        os.remove(options.trace)
    shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
