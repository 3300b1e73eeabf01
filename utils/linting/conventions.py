# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SPDX lines, the length of files, the lines and links of documents, include guards and namespaces."""
import os
import re

from . import rooms
from .sources import ROOM_FOLDERS

MOST_LINES = 500
MOST_COLUMNS = 100
SPDX = "SPDX-License-Identifier: "
# These have no comments, are not ours to mark, or are bytes that a test reads.
WITHOUT_SPDX = re.compile(r"(\.json|\.png|\.gitignore|(^|/)LICENSE|(^|/)COPYING|packaging/(copyright|changelog)|/Inputs/.*)$")
NAMESPACE = re.compile(r"^(?:inline )?namespace(?: ([\w:]+))? \{")
# A class of another room may be declared, not defined, in that room's namespace.
DECLARATION = re.compile(r"^\s*(?:(?:class|struct|enum class|enum) \w+(?: : \w+)?;\s*)+(?://.*)?$")
# A link of a document to another file.
# | `recorder/tool/main.c` | `main` | ...
WALK = re.compile(r"^\| `([\w/-]+\.\w+)` \| `(\w+)` \|")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
# Comments, strings and characters, whose braces do not count.
NO_CODE = re.compile(r"""//.*|/\*.*?\*/|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)'""")
# Namespaces of libraries, for specialisations and declarations.
FOREIGN = re.compile(r"^(llvm|lldb|lldb_private|std|testing)\b")


def check_spdx(sources, path):
    """The first line, or the second after #!."""
    lines = sources.lines(path)
    first = lines[1] if lines[0].startswith("#!") and len(lines) > 1 else lines[0]
    if SPDX in first or WITHOUT_SPDX.search(path):
        return []
    return ["%s:1: the SPDX line is missing" % path]


def check_length(sources, path):
    count = sources.text(path).count("\n")
    if count <= MOST_LINES:
        return []
    return ["%s: has %d lines; a file has at most %d, unless it is a table (.def) or a test" % (path, count, MOST_LINES)]


def check_columns(sources, path):
    """Of a document: tables and code may be wider, and so may a word that cannot be broken."""
    findings, fenced = [], False
    for number, line in enumerate(sources.lines(path), 1):
        if line.startswith("```"):
            fenced = not fenced
        wide = len(line) > MOST_COLUMNS and " " in line.strip()[:MOST_COLUMNS]
        if wide and not fenced and not line.startswith(("|", "    ")):
            findings.append("%s:%d: has %d columns; documents wrap at %d" % (path, number, len(line), MOST_COLUMNS))
    return findings


def check_links(sources, path):
    findings = []
    for number, line in enumerate(sources.lines(path), 1):
        for target in LINK.findall(line):
            place = os.path.normpath(os.path.join(os.path.dirname(path), target))
            if not (sources.root / place).exists():
                findings.append("%s:%d: links to %s, which does not exist" % (path, number, place))
    return findings


def check_walks(sources, path):
    """A row of a walk names a file and a function in it: both must exist."""
    findings = []
    for number, line in enumerate(sources.lines(path), 1):
        match = WALK.match(line)
        if not match:
            continue
        file, function = match.groups()
        place = "%s:%d" % (path, number)
        if file not in sources.files:
            findings.append("%s: names %s, which does not exist" % (place, file))
        elif not re.search(r"\b%s\b" % re.escape(function), sources.text(file)):
            findings.append("%s: names %s in %s, which has no such function" % (place, function, file))
    return findings


def guard_of(path):
    return "CHRONICLE_" + re.sub(r"[^A-Z0-9]", "_", path.upper())


def check_guard(sources, path, fix):
    wanted = guard_of(path)
    match = re.search(r"^#ifndef (\w+)\n#define (\w+)$", sources.text(path), re.MULTILINE)
    if not match or match[1] != match[2]:
        return ["%s:1: the include guard %s is missing" % (path, wanted)]
    if match[1] == wanted:
        return []
    if fix:
        text = re.sub(r"\b%s\b" % match[1], wanted, sources.text(path))
        (sources.root / path).write_text(text)
        return []
    number = sources.text(path)[: match.start()].count("\n") + 1
    return ["%s:%d: the include guard is %s, but should be %s" % (path, number, match[1], wanted)]


def only_declares(lines, start):
    """Whether the namespace that opens in this line has nothing but declarations."""
    rest = lines[start].split("{", 1)[1]
    if "}" in rest:
        return DECLARATION.match(rest.split("}")[0]) is not None
    for line in lines[start + 1 :]:
        if line.startswith("}"):
            return True
        if line.strip() and not DECLARATION.match(line):
            return False
    return False


def check_namespace(sources, room, path):
    """Of the namespaces that are not within another one."""
    lines = sources.lines(path)
    findings, has_own, depth = [], False, 0
    for index, line in enumerate(lines):
        match = NAMESPACE.match(line)
        if match and not depth and match[1] and not FOREIGN.match(match[1]):
            if match[1] == room.namespace or match[1].startswith(room.namespace + "::"):
                has_own = True
            elif not only_declares(lines, index):
                place = "%s:%d" % (path, index + 1)
                findings.append("%s: this opens namespace %s, but the namespace of %s is %s" % (place, match[1], room.path, room.namespace))
        code = NO_CODE.sub("", line)
        depth += code.count("{") - code.count("}")
    if not findings and not has_own and not re.search(r"^int main\(", sources.text(path), re.MULTILINE):
        findings.append("%s:1: nothing is in namespace %s" % (path, room.namespace))
    return findings


def check(sources, options):
    findings = []
    for path in sources.files:
        findings += check_spdx(sources, path)
        if path.endswith(".md"):
            findings += check_columns(sources, path) + check_links(sources, path) + check_walks(sources, path)
    table = rooms.parse(sources)
    # What a C file includes has no namespace.
    in_c = {other for path in sources.files if path.endswith(".c") for other in sources.all_includes(path)}
    for path in sources.under(ROOM_FOLDERS):
        findings += check_length(sources, path)
        if path.endswith(".h"):
            findings += check_guard(sources, path, options.fix)
        room = table.get(os.path.dirname(path))
        if room and room.namespace and path not in in_c:
            findings += check_namespace(sources, room, path)
    return findings
