# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""clang-format on the C and C++ files."""
import concurrent.futures
import difflib
import shutil
import subprocess

from .sources import CODE_SUFFIXES, LintError

TOOL = "clang-format-22"


def difference(sources, path):
    """What clang-format would change first, or None."""
    command = [TOOL, "--assume-filename=" + path]
    text = sources.text(path)
    result = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=sources.root)
    if result.returncode:
        raise LintError("%s failed on %s: %s" % (TOOL, path, result.stderr.strip()))
    if result.stdout == text:
        return None
    changes = difflib.SequenceMatcher(None, text.split("\n"), result.stdout.split("\n"), autojunk=False).get_opcodes()
    changes = [change for change in changes if change[0] != "equal"]
    places = "" if len(changes) == 1 else " (and in %d more places)" % (len(changes) - 1)
    finding = "%s:%d: clang-format would change this%s" % (path, changes[0][1] + 1, places)
    return finding, result.stdout


def check(sources, options):
    if not shutil.which(TOOL):
        raise LintError("%s is missing; utils/setup installs it" % TOOL)
    paths = [path for path in sources.files if path.endswith(CODE_SUFFIXES)]
    findings, fixed = [], 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for path, found in zip(paths, pool.map(lambda path: difference(sources, path), paths)):
            if found and options.fix:
                (sources.root / path).write_text(found[1])
                fixed += 1
            elif found:
                findings.append(found[0])
    if fixed:
        print("lint: format: changed %d files" % fixed)
    if findings:
        print("lint: 'utils/lint --fix format' formats these files")
    return findings
