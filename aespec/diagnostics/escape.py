"""Text from specs and messages made harmless for a terminal."""

from __future__ import annotations

import re

# Control characters (C0 without the line end, DEL, C1), marks that turn the direction of text around, line
# and paragraph separators, zero-width characters, and halves of surrogate pairs: what a terminal obeys, or
# what shows another text than the file holds.
_HARMFUL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
TAB_WIDTH = 4
"""Columns that a tab takes in shown source lines."""


def escape_controls(text: str) -> str:
    r"""The text with characters that a terminal obeys written as `\x1b` or `\u202e`; line ends stay."""
    return _HARMFUL.sub(_spell, text)


def _spell(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def show_line(line: str) -> tuple[str, tuple[int, ...]]:
    """A source line as shown, and for each of its offsets (and its end) the column where it then stands.

    Tabs become spaces, harmful characters are escaped, wide characters take two columns.
    """
    from unicodedata import combining, east_asian_width

    shown: list[str] = []
    columns = [0]
    column = 0
    for char in line:
        piece = " " * (TAB_WIDTH - column % TAB_WIDTH) if char == "\t" else escape_controls(char)
        shown.append(piece)
        if len(piece) == 1 and not char.isascii():
            column += 0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1
        else:
            column += len(piece)
        columns.append(column)
    return "".join(shown), tuple(columns)
