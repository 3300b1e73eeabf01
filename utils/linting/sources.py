# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The files of a source tree and what they include."""
import functools
import os
import re
import subprocess

# Folders whose C and C++ files make the programs; everything in them belongs to a room.
ROOM_FOLDERS = ("trace-format", "recorder", "indexer", "query", "lldb-plugin", "utils/chronicle")
CODE_SUFFIXES = (".h", ".cpp", ".c")
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')


class LintError(Exception):
    """A check cannot run; says what to do."""


class Sources:
    """The files under a root, by their path from it. Contents are read once."""

    def __init__(self, root):
        self.root = root
        self.files = self._list()
        self._known = set(self.files)

    def _list(self):
        """What git tracks or would track; without git everything but builds and hidden folders."""
        command = ["git", "-C", str(self.root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        if (self.root / ".git").exists():
            listed = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.split("\0")
            return sorted({path for path in listed if path and (self.root / path).is_file()})
        found = []
        for folder, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if not name.startswith((".", "build"))]
            found += [os.path.relpath(os.path.join(folder, name), self.root) for name in names]
        return sorted(found)

    def under(self, folders, suffixes=CODE_SUFFIXES):
        prefixes = tuple(folder + "/" for folder in folders)
        return [path for path in self.files if path.startswith(prefixes) and path.endswith(suffixes)]

    @functools.lru_cache(maxsize=None)
    def text(self, path):
        try:
            return (self.root / path).read_text(errors="replace")
        except OSError as error:
            raise LintError("cannot read %s: %s" % (path, error.strerror))

    def lines(self, path):
        return self.text(path).split("\n")

    @functools.lru_cache(maxsize=None)
    def includes(self, path):
        """(line number, text between the quotes, path of the file if it is one of ours) of each #include."""
        found = []
        for number, line in enumerate(self.lines(path), 1):
            match = INCLUDE.match(line)
            if match:
                found.append((number, match[2], self.resolve(path, match[2]) if match[1] == '"' else None))
        return found

    def resolve(self, path, name):
        """As the compiler finds it: beside the file, then from the root; None if it is not ours."""
        for candidate in (os.path.normpath(os.path.join(os.path.dirname(path), name)), os.path.normpath(name)):
            if candidate in self._known:
                return candidate
        return None

    @functools.lru_cache(maxsize=None)
    def all_includes(self, path):
        """The files of ours that a file includes, directly or not, and itself."""
        found, waiting = {path}, [path]
        while waiting:
            for _, _, other in self.includes(waiting.pop()):
                if other and other not in found:
                    found.add(other)
                    waiting.append(other)
        return found
