#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
trap 'echo leaving' EXIT
echo "sorted: $(printf '3\n1\n2\n' | sort | tr '\n' ' ')"
sum=0
for ((i = 0; i < 2000; i++)); do
  ((sum += i * i))
done
echo "sum $sum"
declare -A seen
for word in a b c a b a; do ((seen[$word]++)); done
echo "${seen[a]} ${seen[b]} ${seen[c]}"
(cd / && pwd)
while read -r line; do echo "line: ${line^^}"; done <<'TEXT'
first
second
TEXT
echo to standard error >&2
seq 1 1000 | grep 7 | wc -l
cat < <(echo substituted)
[[ abc123 =~ ([a-z]+)([0-9]+) ]] && echo "${BASH_REMATCH[2]}"
exit 7
