# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""clang-tidy on the files of the compile database, each only after it changed.

A file without findings leaves a stamp in build/tidy, named after the hash of
everything its result depends on: clang-tidy and its configuration, the
compiler's command, the file and the headers of ours that it includes."""
import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

from .sources import LintError

TOOL = "clang-tidy-22"
FINDING = re.compile(r"^(?P<path>[^:]+):(?P<line>\d+):\d+: (?:warning|error): (?P<text>.*)$")
# Seconds between two lines that say how far it got.
PROGRESS_SECONDS = 15


def database_folder(sources, build):
    """The folder of a compile database that has each file by itself. A build that compiles each
    room as one file has no such database: then a second folder is configured, not built."""
    cache = build / "CMakeCache.txt"
    if not cache.exists() or "CHRONICLE_UNITY:BOOL=ON" not in cache.read_text():
        return build
    folder = build / "each-file"
    command = ["cmake", "--preset", "default", "-B", str(folder)]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=sources.root)
    if result.returncode:
        raise LintError("'%s' failed: %s" % (" ".join(command), result.stdout.strip()[-500:]))
    # Generated headers are where they were built.
    path = folder / "compile_commands.json"
    path.write_text(path.read_text().replace(str(folder), str(build)))
    return folder


def database(sources, folder):
    """The compiler's command of each file of ours, once, by its path."""
    path = folder / "compile_commands.json"
    if not path.exists():
        raise LintError("%s is missing; utils/build makes it" % path)
    commands = {}
    for entry in json.loads(path.read_text()):
        name = os.path.relpath(os.path.join(entry["directory"], entry["file"]), sources.root)
        if name in sources.files and "/workloads/" not in name:
            commands[name] = entry.get("command") or " ".join(entry["arguments"])
    if not commands:
        raise LintError("%s has no file of %s" % (path, sources.root))
    return commands


def configurations(sources, path):
    """The .clang-tidy files that apply to a file."""
    folder = os.path.dirname(path)
    found = []
    while True:
        candidate = os.path.join(folder, ".clang-tidy")
        if candidate in sources.files:
            found.append(candidate)
        if not folder:
            return found
        folder = os.path.dirname(folder)


def stamp_of(sources, path, command, version):
    digest = hashlib.sha256()
    for text in (version, path, command):
        digest.update(text.encode() + b"\0")
    for other in sorted(sources.all_includes(path)) + configurations(sources, path):
        digest.update(other.encode() + b"\0" + sources.text(other).encode() + b"\0")
    return digest.hexdigest()


def run_one(sources, options, folder, path):
    """The findings of a file and its headers (not those of the system), as text."""
    command = [TOOL, "-p", str(folder), "--quiet", "--header-filter=.*"]
    if options.fix:
        command.append("--fix")
    result = subprocess.run(command + [path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=sources.root)
    findings = []
    for line in result.stdout.split("\n"):
        match = FINDING.match(line)
        if match:
            place = os.path.relpath(os.path.join(sources.root, match["path"]), sources.root)
            findings.append("%s:%s: %s" % (place, match["line"], match["text"].replace(",-warnings-as-errors]", "]")))
    if result.returncode and not findings:
        tail = (result.stdout + result.stderr).strip()[-500:]
        findings.append("%s: %s failed with status %d: %s" % (path, TOOL, result.returncode, tail))
    return findings


def check(sources, options):
    if not shutil.which(TOOL):
        raise LintError("%s is missing; utils/setup installs it" % TOOL)
    version = subprocess.run([TOOL, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    folder = database_folder(sources, options.build)
    commands = database(sources, folder)
    stamps = options.build / "tidy"
    stamps.mkdir(exist_ok=True)
    names = {path: stamp_of(sources, path, command, version) for path, command in commands.items()}
    # Stamps of files as they no longer are would pile up.
    for old in stamps.iterdir():
        if old.name not in names.values():
            old.unlink()
    waiting = [path for path in commands if not (stamps / names[path]).exists()]
    if not waiting:
        return []
    print("lint: tidy: %d of %d files changed since they were last clean" % (len(waiting), len(commands)), flush=True)
    findings, said = [], time.monotonic()
    # Fixes of a header must not be applied twice at the same time.
    with concurrent.futures.ThreadPoolExecutor(1 if options.fix else options.jobs) as pool:
        futures = {pool.submit(run_one, sources, options, folder, path): path for path in waiting}
        try:
            for done, future in enumerate(concurrent.futures.as_completed(futures), 1):
                found = future.result()
                findings += found
                if not found:
                    (stamps / names[futures[future]]).touch()
                if time.monotonic() - said > PROGRESS_SECONDS:
                    said = time.monotonic()
                    print("lint: tidy: %d of %d files" % (done, len(waiting)), flush=True)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            raise
    # Several files include the same header.
    return sorted(set(findings))
