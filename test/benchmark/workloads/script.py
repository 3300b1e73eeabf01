# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Typical work for scripts: dictionaries, strings, objects, sorting, recursion. `script.py N` does N rounds."""
import json
import re
import sys


class Account:
    def __init__(self, name):
        self.name = name
        self.entries = []

    def book(self, amount):
        self.entries.append(amount)
        return sum(self.entries[-5:])


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def work(round_number, accounts):
    for index in range(50):
        name = "account-%d" % ((round_number * 7 + index) % 97)
        accounts.setdefault(name, Account(name)).book(index * round_number)
    ordered = sorted(accounts.values(), key=lambda account: (len(account.entries), account.name))
    text = json.dumps({account.name: account.entries[-3:] for account in ordered[:20]})
    words = re.findall(r"[a-z]+-\d+", text)
    return len(words) + len(json.loads(text)) + fibonacci(9)


def main():
    accounts = {}
    print(sum(work(number, accounts) for number in range(int(sys.argv[1]))))


main()
