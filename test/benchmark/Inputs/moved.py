# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""moved.py RESULT SAME OTHER: compares a result with itself and with one in which two measures were
different, by the same code as utils/bench --compare; the lines go to SAME.compared, OTHER.compared."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True
from bench.compare import compare

result = json.loads(pathlib.Path(sys.argv[1]).read_text())["measures"]
other = json.loads(json.dumps(result))
for name, factor in (("micro/replay-instruction/ns", 0.1), ("micro/index-decode-instruction/ns", 10)):
    # One sample each, so that how much this machine varies does not matter.
    median = result[name]["median"]
    result[name].update(repetitions=[[median]])
    other[name].update(repetitions=[[median * factor]], median=median * factor)
for path, earlier in ((sys.argv[2], result), (sys.argv[3], other)):
    pathlib.Path(path + ".compared").write_text("\n".join(compare(earlier, result)) + "\n")
