# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Formats tables as Markdown, so that they can be pasted into a document."""


def number(value):
    return "–" if value is None else "%.3g" % value


def render(lines):
    """A table of these lines of cells. The first line is the head."""
    widths = [max(3, *(len(line[column]) for line in lines)) for column in range(len(lines[0]))]
    lines = [lines[0], ["-" * width for width in widths], *lines[1:]]
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines)
