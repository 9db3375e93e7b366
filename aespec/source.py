"""Source text and the places in it that everything later points back to."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import field
from functools import cached_property
from pathlib import Path

from aespec.records import dataclass


@dataclass(frozen=True)
class Source:
    """One text: `name` is for display only, `text` uses LF line ends, `path` is where it was read from.

    Assets and used files are found relative to `path`; a text without one can't name any.
    """

    name: str
    text: str = field(repr=False)
    path: Path | None = field(default=None, compare=False, repr=False)

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        """Offsets, in characters, at which each line begins."""
        return (0, *(found.end() for found in re.finditer("\n", self.text)))

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a character offset, both counted from 1."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        """The text of a line counted from 1, without its line end."""
        start = self.line_starts[line - 1]
        end = self.text.find("\n", start)
        return self.text[start : len(self.text) if end < 0 else end]


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of character offsets in a source; `0 <= start <= end <= len(source.text)`."""

    source: Source = field(repr=False)
    start: int
    end: int

    @property
    def position(self) -> tuple[int, int]:
        """Line and column of the start, counted from 1."""
        return self.source.position(self.start)

    @property
    def text(self) -> str:
        """What stands in the range."""
        return self.source.text[self.start : self.end]
