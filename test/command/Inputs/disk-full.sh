# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# disk-full.sh DIRECTORY SIZE program...: records onto a file system of that size,
# and looks at what is left, before the namespace and the mount with it are gone.
directory=$1
size=$2
shift 2
mount -t tmpfs -o size="$size" tmpfs "$directory" || exit 1
status=0
chronicle record -o "$directory/trace.db" -- "$@" || status=$?
echo "record gave $status"
chronicle info --json "$directory/trace.db" |
  python3 -c 'import json, sys; e = json.load(sys.stdin)["end"]; print("reason", json.dumps(e["reason"])); print("instructions", e["instructions"])' || exit 1
status=0
chronicle verify "$directory/trace.db" || status=$?
echo "verify gave $status"
