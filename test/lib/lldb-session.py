# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""lldb-session.py TRACE COMMANDS [SOURCE]: runs a file of LLDB commands, some of
which may fail, on a trace and prints what LLDB prints. One that hangs is killed."""
import sys

import lldb_session

trace, session, *source = sys.argv[1:]
commands = lldb_session.commands_of(session, source[0] if source else None)
print(lldb_session.run(["chronicle", "debug", trace, "-x"], commands))
