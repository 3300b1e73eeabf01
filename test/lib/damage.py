# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a damaged copy of a trace: damage.py FROM TO HOW...

  truncate FRACTION   keeps so much of it
  drop N              without its last N bytes
  flip FRACTION       inverts one byte at that place
  version N           claims another format version
  empty | text        another file altogether"""
import sys

source, target, how = sys.argv[1:4]
with open(source, "rb") as file:
    data = bytearray(file.read())
if how == "truncate":
    data = data[: int(len(data) * float(sys.argv[4]))]
elif how == "drop":
    data = data[: -int(sys.argv[4])]
elif how == "flip":
    data[min(len(data) - 1, int(len(data) * float(sys.argv[4])))] ^= 0xFF
elif how == "version":
    data[8:12] = int(sys.argv[4]).to_bytes(4, "little")
elif how == "empty":
    data = b""
elif how == "text":
    data = b"This is not a trace, but a text.\n" * 100
else:
    sys.exit("damage.py: what is %s?" % how)
with open(target, "wb") as file:
    file.write(data)
