# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""status.py N COMMAND...: succeeds if the exit status of the command is N. If N is negative, the
command must be killed by signal -N."""
import subprocess
import sys

wanted = int(sys.argv[1])
status = subprocess.run(sys.argv[2:], timeout=600).returncode
if status != wanted:
    print("expected status %d, got %d: %s" % (wanted, status, " ".join(sys.argv[2:])))
    sys.exit(1)
