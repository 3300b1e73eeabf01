# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs that are measured. Each can run at any length."""
import pathlib
import re
import shutil

from .process import BenchError, output_of, progress, run

SOURCES = pathlib.Path(__file__).resolve().parent.parent / "workloads"

# Approximate number of instructions per workload.
SIZES = {"tiny": 20e6, "small": 300e6, "medium": 1.5e9, "large": 5e9}


def parse_size(text):
    """The number of instructions for a name of SIZES or for a text such as 800M or 3G."""
    if text in SIZES:
        return SIZES[text]
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([MG])", text)
    if not match:
        raise BenchError("invalid --size: expected one of %s, or a number of instructions such as 800M" % ", ".join(SIZES))
    return float(match[1]) * {"M": 1e6, "G": 1e9}[match[2]]


def program(name):
    """The path of a Debian program, even if PATH has another one."""
    path = shutil.which(name, path="/usr/bin:/bin")
    if not path:
        raise BenchError("%s is missing; run utils/setup" % name)
    return path


class Workload:
    """A program that can be run for about a given number of instructions.

    start is the number of instructions before the work, unit that of one unit of work. Both were measured once; they
    only decide the length of a run."""

    name = unit = start = None

    def amount(self, instructions):
        return max(1, round((instructions - self.start) / self.unit))

    def command(self, place, amount):
        """Makes the inputs under place, unless they exist, and returns the command."""
        raise NotImplementedError


class Archive:
    """The first bytes of a tar of /usr/include."""

    @staticmethod
    def make(place, size):
        path = place / ("include-%d.tar" % size)
        if not path.exists():
            whole = place / "include.tar"
            if not whole.exists():
                progress("packing /usr/include")
                with open(whole, "wb") as out:
                    run(["tar", "--sort=name", "-C", "/usr", "-c", "include"], stdout=out)
            if size > whole.stat().st_size:
                progress("/usr/include has only %d MB, so the run is shorter" % (whole.stat().st_size >> 20))
            with open(whole, "rb") as source, open(path, "wb") as out:
                left = size
                while left > 0 and (part := source.read(min(left, 1 << 20))):
                    out.write(part)
                    left -= len(part)
        return path


class Gzip(Workload):
    name, start, unit = "gzip", 0, 120

    def command(self, place, amount):
        return [program("gzip"), "-6", "-c", Archive.make(place, amount)]


class Xz(Workload):
    name, start, unit = "xz", 1e6, 1230

    def command(self, place, amount):
        return [program("xz"), "-T1", "-c", Archive.make(place, amount)]


class Sqlite(Workload):
    name, start, unit = "sqlite3", 3e6, 23e3
    SCRIPT = """
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price REAL, kind INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %(rows)d)
  INSERT INTO item SELECT i, 'item ' || (i * 7919 %% 100003), i * 0.37, i %% 97 FROM n;
CREATE INDEX item_name ON item(name);
SELECT kind, count(*), sum(price), max(name) FROM item GROUP BY kind ORDER BY 3 DESC LIMIT 5;
UPDATE item SET price = price * 1.1 WHERE name LIKE 'item 7%%';
SELECT count(*) FROM item a JOIN item b ON a.name = b.name AND a.kind < b.kind;
DELETE FROM item WHERE id %% 3 = 0;
SELECT count(*), total(price) FROM item;
"""

    def command(self, place, amount):
        path = place / ("queries-%d.sql" % amount)
        path.write_text(self.SCRIPT % {"rows": amount})
        return [program("sqlite3"), "-init", path, "-batch", ":memory:", ""]


class Python(Workload):
    name, start, unit = "python3", 51e6, 890e3

    def command(self, place, amount):
        return [program("python3"), "-S", "-E", SOURCES / "script.py", amount]


class Perl(Workload):
    name, start, unit = "perl", 9e6, 2.68e6

    def command(self, place, amount):
        return [program("perl"), SOURCES / "script.pl", amount]


class Compiler(Workload):
    """Runs cc1 -O1 on the preprocessed stb libraries. Each copy has names of its own."""

    name, start, unit = "cc1", 100e6, 1e6
    # The cost of compiling each, in units, the largest first.
    LIBRARIES = {
        "stb_image": 5300,
        "stb_truetype": 2700,
        "stb_image_write": 1200,
        "stb_dxt": 300,
        "stb_perlin": 180,
        "stb_rect_pack": 110,
    }

    def command(self, place, amount):
        path = place / ("stb-%d.i" % amount)
        if not path.exists():
            names = list(self.libraries(amount))
            headers = "stdio stdlib string math assert stdarg stdint stddef limits ctype float".split()
            text = self.preprocess(place, ["<%s.h>" % header for header in headers], "")
            for number, name in enumerate(names):
                library = self.preprocess(place, ["<stb/%s.h>" % name], "/stb", name.upper() + "_IMPLEMENTATION")
                text += re.sub(r"\b(stb\w*)", r"\1_%d" % number, library, flags=re.IGNORECASE)
            path.write_text(text)
        compiler = output_of([program("gcc"), "-print-prog-name=cc1"]).strip()
        return [compiler, "-quiet", "-O1", path, "-o", "/dev/null"]

    def libraries(self, amount):
        for name, cost in self.LIBRARIES.items():
            while amount >= 0.8 * cost or name == "stb_rect_pack" and amount > 0:
                amount -= cost
                yield name

    @staticmethod
    def preprocess(place, headers, part, define="NDEBUG"):
        """The preprocessed text of the headers that comes from files with `part` in their names."""
        source = place / "preprocess.c"
        source.write_text("#define %s\n" % define + "".join("#include %s\n" % header for header in headers))
        if "/stb" in part and not pathlib.Path("/usr/include/stb").exists():
            raise BenchError("libstb-dev is missing; run utils/setup")
        kept, keep = [], True
        # Vector code would need the compiler's own headers, which are left out.
        for line in output_of([program("gcc"), "-E", "-DSTBI_NO_SIMD", source]).splitlines(keepends=True):
            marker = re.match(r'# \d+ "([^"]*)"', line)
            if marker:
                keep = part in marker[1]
            elif keep:
                kept.append(line)
        return "".join(kept)


class Built(Workload):
    """A program of this folder, which is compiled here."""

    source = flags = None

    def command(self, place, amount):
        return [self.build(place), amount]

    def build(self, place, flags=None, suffix=""):
        path = place / (self.name + suffix)
        if not path.exists():
            source = SOURCES / self.source
            compiler = program("g++" if source.suffix == ".cpp" else "gcc")
            run([compiler, "-g", *(flags or self.flags), source, "-o", path, "-lm"])
        return path


class Simd(Built):
    name, start, unit = "simd", 0.3e6, 134e3
    source, flags = "simd.c", ["-O3", "-march=x86-64-v3"]


class Map(Built):
    name, start, unit = "map", 1.4e6, 3350
    source, flags = "map.cpp", ["-std=c++17", "-O2"]


class Locks(Built):
    name, start, unit = "locks", 0.2e6, 15.6e3
    source, flags = "locks.c", ["-O2", "-pthread"]


WORKLOADS = [Gzip(), Xz(), Sqlite(), Python(), Perl(), Compiler(), Simd(), Map(), Locks()]
