# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a damaged copy of a trace: damage.py FROM TO HOW...

  truncate FRACTION   keeps so much of it
  drop N              without its last N bytes
  flip FRACTION       inverts one byte at that place, or the last one before it that is not padding
  version N           claims another format version
  empty | text        another file altogether"""
import struct
import sys


def meaningful(data, place):
    """The place, or the last byte of the piece whose padding is there (docs/format.md, "The database")."""
    at = 64
    while at + 32 <= len(data) and data[at : at + 4] == b"CHPC":
        end = at + 32 + struct.unpack_from("<I", data, at + 12)[0]
        if place < end:
            break
        at = (end + 7) // 8 * 8
        if place < at:
            return end - 1
    return place


source, target, how = sys.argv[1:4]
with open(source, "rb") as file:
    data = bytearray(file.read())
if how == "truncate":
    data = data[: int(len(data) * float(sys.argv[4]))]
elif how == "drop":
    data = data[: -int(sys.argv[4])]
elif how == "flip":
    data[meaningful(data, min(len(data) - 1, int(len(data) * float(sys.argv[4]))))] ^= 0xFF
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
