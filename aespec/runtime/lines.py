"""Comparing texts line by line, with the freedoms that people don't see: line ends, final blanks."""

from __future__ import annotations

import unicodedata
from collections import Counter
from typing import List, Optional, Sequence

from aespec.runtime.decode import show
from aespec.runtime.wording import counted

TRIMS = ("lines", "final", "none", "all")
"""What is ignored: blanks at line ends and blank lines at the end; final line ends; nothing; outer blanks."""


def normal_lines(text: str, trim: str = "lines") -> List[str]:
    """The lines of a text after `trim`; CRLF counts as LF everywhere but in `none`, letters in Unicode form
    NFC.

    A final line end ends the last line and begins no other. `all` also drops blanks at the start of lines and
    blank lines at the start.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    if trim != "none":
        # What is dropped at the end anyway goes first: ten million blank lines cost nothing that way.
        text = text.replace("\r\n", "\n").rstrip("\n" if trim == "final" else "\n \t")
    lines = text.split("\n")
    if trim == "none":
        return lines
    if trim == "all":
        lines = [line.strip(" \t") for line in lines]
    elif trim == "lines":
        lines = [line.rstrip(" \t") for line in lines]
    while lines and not lines[-1]:
        lines.pop()
    if trim == "all":
        first = next((index for index, line in enumerate(lines) if line), 0)
        del lines[:first]
    return lines


def line_difference(found: Sequence[str], wanted: Sequence[str], order: str = "given") -> Optional[str]:
    """None if the lines agree (as a multiset where `order` is `any`); else the first difference in a
    sentence.
    """
    if order == "any":
        missing = Counter(wanted) - Counter(found)
        extra = Counter(found) - Counter(wanted)
        if missing:
            return f"the line {show(next(iter(missing)))} is missing"
        return f"the line {show(next(iter(extra)))} is not expected" if extra else None
    for number, (line, value) in enumerate(zip(found, wanted), 1):
        if line != value:
            return f"line {number}: expected {show(value)}, found {show(line)}"
    if len(found) != len(wanted):
        return f"expected {counted(len(wanted), 'line')}, found {len(found)}"
    return None
