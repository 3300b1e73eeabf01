# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables as Markdown, so that they can go into a document as they are."""


def number(value):
    return "–" if value is None else "%.3g" % value


def render(lines):
    """Cells by line, the first of which is the head, in columns as wide as they must be."""
    widths = [max(3, *(len(line[column]) for line in lines)) for column in range(len(lines[0]))]
    lines = [lines[0], ["-" * width for width in widths], *lines[1:]]
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines)
