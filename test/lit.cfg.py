# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Configures lit for the tests under test/. CONTRIBUTING.md lists the substitutions."""
import os
import shutil
import subprocess
import sys
import tempfile

import lit.formats

config.name = "Chronicle"
config.test_format = lit.formats.ShTest(False)
config.suffixes = [".test"]
config.excludes = ["programs", "unit", "lib", "Inputs"]
config.test_source_root = os.path.join(config.source_dir, "test")
config.test_exec_root = os.path.join(config.build_dir, "test")

bin_dir = os.path.join(config.build_dir, "bin")
library = os.path.join(config.test_source_root, "lib")
config.environment["PATH"] = os.pathsep.join(
    [bin_dir, config.llvm_tools_dir, config.environment["PATH"]]
)
# What a recorded program prints must not depend on the user's environment.
for name in ("LANGUAGE", "LC_ALL", "LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONSTARTUP"):
    config.environment.pop(name, None)
config.environment["LANG"] = "C.UTF-8"
config.environment["HOME"] = config.test_exec_root
# Copies of recorded programs are kept here, not among the user's.
config.environment["XDG_CACHE_HOME"] = os.path.join(config.test_exec_root, ".cache")
# Scripts that are parts of tests import from test/lib.
config.environment["PYTHONPATH"] = library
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"


def script(name):
    return "%s %s" % (sys.executable, os.path.join(library, name))


def compiler_proper(driver, name):
    command = [driver, "-print-prog-name=" + name]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.strip()


def release():
    """How the release is built, and where it is then. A build by utils/check is one already."""
    if config.unity:
        return "true", config.build_dir
    configure = "cd %s && %s --preset release -B %%t.dir" % (config.source_dir, config.cmake)
    return configure + " && %s --build %%t.dir --target chronicle-product" % config.cmake, "%t.dir"


build_release, release_dir = release()

# %record runs a program natively and recorded, compares all that can be observed of
# both runs, verifies the trace %t.db and prints what it says.
# %split puts the parts of a test into %parts.
config.substitutions += [
    ("%split", script("split.py") + " %s %t.parts"),
    ("%parts", "%t.parts"),
    ("%record", script("record.py") + " --trace %t.db"),
    ("%status", script("status.py")),
    ("%damage", script("damage.py")),
    ("%interrupt", script("interrupt.py") + " --trace %t.db"),
    ("%utils", os.path.join(config.source_dir, "utils")),
    ("%programs", os.path.join(config.test_exec_root, "programs")),
    ("%check-", os.path.join(config.test_exec_root, "check", "check-")),
    ("%fuzzers", os.path.join(config.test_exec_root, "fuzz")),
    ("%python", sys.executable),
    ("%cmake", config.cmake),
    ("%build-release", build_release),
    ("%release", release_dir),
    ("%build", config.build_dir),
    ("%cc1plus", compiler_proper(config.cxx_compiler, "cc1plus")),
    ("%cc1", compiler_proper(config.c_compiler, "cc1")),
    ("%cc", config.c_compiler),
    ("%cxx", config.cxx_compiler),
]

# `--param log-loads=always` makes %record record a second time, with all loads logged, and
# `chronicle record` log all loads unless the test says which.
log_loads = lit_config.params.get("log-loads", "auto")
if log_loads not in ("auto", "always"):
    lit_config.fatal("invalid parameter log-loads=%s: expected auto or always" % log_loads)
config.environment["CHRONICLE_TEST_LOG_LOADS"] = log_loads
if log_loads == "always":
    config.substitutions.append(
        (r"chronicle record (?!.*--log-loads)", "chronicle record --log-loads=always ")
    )


def can_mount():
    """Whether a small tmpfs can be mounted in a new namespace."""
    if not shutil.which("unshare"):
        return False
    with tempfile.TemporaryDirectory() as place:
        command = "mount -t tmpfs -o size=1m tmpfs %s" % place
        return not subprocess.run(
            ["unshare", "-rm", "sh", "-c", command],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ).returncode


if os.geteuid() == 0:
    config.available_features.add("root")
if can_mount():
    config.available_features.add("mount")
for program in ("gzip", "xz", "sqlite3", "perl", "bash", "git", "luajit", "openssl", "node",
                "groff", "tmux", "zsh", "dwz", "meson", "automake"):
    if shutil.which(program):
        config.available_features.add(program)
