# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""status.py N command...: succeeds if the command's exit status is N (or -signal)."""
import subprocess
import sys

wanted = int(sys.argv[1])
status = subprocess.run(sys.argv[2:], timeout=600).returncode
if status != wanted:
    print("status %d, not %d: %s" % (status, wanted, " ".join(sys.argv[2:])))
    sys.exit(1)
