# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a script does: text, numbers, objects, threads. Exits with 3."""
import re
import sys
import threading

count = int(sys.argv[1])
words = {}
state = 12345
for i in range(count * 10):
    state = (state * 1103515245 + 12345) % 2**31
    word = "w%d" % (state % 97)
    words[word] = words.get(word, 0) + 1
print("words", len(words), sorted(words.items())[:3])
big = 1
for i in range(1, count):
    big *= i
print(len(str(big)), sum(map(int, str(big))))
print(re.sub(r"(\d+)-(\w+)", r"\2-\1", "12-ab 34-cd " * 3))
print("%.6f" % sum(1 / (i * i) for i in range(1, count * 10)))


class Node:
    def __init__(self, value, rest):
        self.value, self.rest = value, rest


chain = None
for i in range(1000):
    chain = Node(i, chain)
total = 0
while chain:
    total += chain.value
    chain = chain.rest
print(total)
results = []
threads = [threading.Thread(target=lambda n=n: results.append(sum(range(n * 1000)))) for n in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(results))
try:
    {}["missing"]
except KeyError as error:
    print("caught", error)
sys.exit(3)
