# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""split.py TEST DIRECTORY [FILE...]: what `%split [FILE...]` does at the start of a test.

Puts the parts of the test into DIRECTORY (LLVM's split-file does it), and beside them copies of
the FILEs, which several tests share. The sources among them mark lines by `// line: name`. In
every file @name@ then becomes "file:line" and @name#@ becomes "line". The test itself becomes
DIRECTORY/checks, for expectations that name lines: `FileCheck %parts/checks`."""
import os
import re
import shutil
import subprocess
import sys


def marked_lines(source):
    """The line of each `// line: name` in a source."""
    with open(source) as file:
        marks = [re.search(r"// line: ([\w-]+)", line) for line in file]
    return {mark[1]: number for number, mark in enumerate(marks, 1) if mark}


def replace_marks(text, places):
    def place(found):
        if found[1] not in places:
            sys.exit("split.py: no source marks a line '%s'" % found[1])
        name, line = places[found[1]]
        return str(line) if found[2] else "%s:%d" % (name, line)

    return re.sub(r"@([\w-]+)(#?)@", place, text)


def main(test, directory, *shared):
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    with open(test) as file:
        has_parts = re.search(r"^(.|//)--- ", file.read(), re.MULTILINE)
    if has_parts:
        subprocess.run(["split-file", test, directory], check=True)
    for path in shared:
        shutil.copy(path, directory)
    shutil.copy(test, os.path.join(directory, "checks"))
    names = sorted(os.listdir(directory))
    places = {}
    for name in names:
        if not name.endswith((".c", ".cpp")):
            continue
        for mark, line in marked_lines(os.path.join(directory, name)).items():
            if mark in places:
                other = places[mark][0]
                sys.exit("split.py: %s and %s both mark a line '%s'" % (other, name, mark))
            places[mark] = (name, line)
    for name in names:
        path = os.path.join(directory, name)
        with open(path) as file:
            text = file.read()
        with open(path, "w") as file:
            file.write(replace_marks(text, places))


if __name__ == "__main__":
    main(*sys.argv[1:])
