# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a damaged copy of a trace: damage.py FROM TO HOW...

  truncate FRACTION   keep only this fraction of the file
  drop N              drop the last N bytes
  flip FRACTION       invert one byte at this fraction of the file, but never a padding byte
  version N           write another format version into the header
  empty | text        make an empty file, or a text file"""
import struct
import sys


def meaningful(data, place):
    """The place itself or, if padding is there, the last byte of the piece before it.
    (docs/format.md, "The database", describes pieces.)"""
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
    data = b"This is a text file, not a trace.\n" * 100
else:
    sys.exit("damage.py: unknown kind of damage '%s'" % how)
with open(target, "wb") as file:
    file.write(data)
