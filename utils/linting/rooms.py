# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rooms of utils/rooms.txt: what they may include and how large they may be."""
import os
import re

from .sources import ROOM_FOLDERS, LintError

TABLE = "utils/rooms.txt"
MOST_FILES = 25
# LLDB's public headers; all others are private.
PUBLIC_LLDB = re.compile(r"^lldb/(API/.*|lldb-[a-z-]+\.h)$")


class Room:
    """One line of the table."""

    def __init__(self, number, path, namespace, uses):
        self.number, self.path, self.namespace, self.uses = number, path, namespace, uses
        # Whether private headers of LLDB may be included here.
        self.private_lldb = False


def parse(sources):
    """The rooms by their path, in the order of the table."""
    if TABLE not in sources.files:
        raise LintError("%s is missing" % TABLE)
    rooms = {}
    for number, line in enumerate(sources.lines(TABLE), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        head, colon, uses = line.partition(":=")
        words = head.split()
        if not colon or len(words) != 2:
            raise LintError("%s:%d: expected 'folder namespace := folders', found '%s'" % (TABLE, number, line))
        path, namespace = words
        if path in rooms:
            raise LintError("%s:%d: %s is listed twice" % (TABLE, number, path))
        room = Room(number, path, None if namespace == "-" else namespace, uses.split())
        room.private_lldb = "private-lldb" in room.uses
        rooms[path] = room
    for room in rooms.values():
        room.uses = [used for name in room.uses if name != "private-lldb" for used in expand(room, name, rooms)]
    return rooms


def expand(room, name, rooms):
    """A name of the table's right-hand side: a room, or folder/* for all rooms under a folder."""
    if name.endswith("/*"):
        found = [path for path in rooms if path.startswith(name[:-1]) and path != room.path]
    else:
        found = [name] if name in rooms else []
    if not found:
        raise LintError("%s:%d: %s names '%s', which is not a room" % (TABLE, room.number, room.path, name))
    return found


def cycles(rooms):
    """A sentence per cycle of the table."""
    found, done = [], set()

    def visit(path, way):
        if path in way:
            way = way[way.index(path) :] + [path]
            found.append("%s:%d: these rooms form a cycle: %s" % (TABLE, rooms[path].number, " -> ".join(way)))
        elif path not in done:
            for used in rooms[path].uses:
                visit(used, way + [path])
            done.add(path)

    for path in rooms:
        visit(path, [])
    return found


def check_includes(sources, rooms, room, path):
    findings = []
    for number, name, other in sources.includes(path):
        place = "%s:%d" % (path, number)
        if name.startswith("lldb/") and not PUBLIC_LLDB.match(name) and not room.private_lldb:
            findings.append("%s: %s is a private header of LLDB, which %s may not use" % (place, name, room.path))
        if not other:
            continue
        target = os.path.dirname(other)
        if target != room.path and target not in room.uses:
            allowed = ", ".join(room.uses) or "nothing of ours"
            findings.append("%s: %s may not include %s (allowed: %s)" % (place, room.path, other, allowed))
    return findings


def check_size(sources, room):
    files = [path for path in sources.files if os.path.dirname(path) == room.path]
    files = [path for path in files if os.path.basename(path) != "CMakeLists.txt" and not os.path.basename(path).startswith(".")]
    if not files:
        return ["%s:%d: %s has no files" % (TABLE, room.number, room.path)]
    if len(files) > MOST_FILES:
        return ["%s: has %d files; a room has at most %d" % (room.path, len(files), MOST_FILES)]
    return []


def check(sources, options):
    rooms = parse(sources)
    findings = cycles(rooms)
    for room in rooms.values():
        findings += check_size(sources, room)
    unlisted = {}
    for path in sources.under(ROOM_FOLDERS, (".h", ".cpp", ".c", ".def")):
        room = rooms.get(os.path.dirname(path))
        if room:
            findings += check_includes(sources, rooms, room, path)
        else:
            unlisted.setdefault(os.path.dirname(path), path)
    findings += ["%s: the folder %s is not in %s" % (path, folder, TABLE) for folder, path in unlisted.items()]
    return findings
