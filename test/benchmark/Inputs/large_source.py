# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: large_source.py PLACE

What cc1 is given is a program, whichever libraries are in it: long runs have others than short ones."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True

from bench.workloads import Compiler

compiler = Compiler()
for name, cost in compiler.LIBRARIES.items():
    assert name in compiler.libraries(cost), name
    command = compiler.command(pathlib.Path(sys.argv[1]), cost)
    subprocess.run([*command, "-fsyntax-only"], check=True)
