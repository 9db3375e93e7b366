"""The output breaks off."""

from __future__ import annotations

from collections.abc import Iterator

from aespec.model.chooser import Chooser
from aespec.model.edit_forms import change
from aespec.operators.api import FILE_KINDS, Draft, Operator, Output, Scene
from aespec.operators.contents import data_of

FULL = tuple(kind for kind in FILE_KINDS if kind != "empty")


def _cut(output: Output, length: int, says: str) -> Iterator[Draft]:
    data = data_of(output)
    if 0 < length < len(data):
        yield Draft(output.path, (change(output.path, data, data[:length]),), says)


def _half(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    return _cut(output, len(data_of(output)) // 2, "its second half is missing")


def _first_byte(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    return _cut(output, 1, "only its first byte is left")


def _last_line(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    data = data_of(output)
    return _cut(output, data.rstrip(b"\r\n").rfind(b"\n") + 1, "its last line is missing")


OPERATORS = (
    (Operator("half", "truncated", FULL, "wrong"), _half),
    (Operator("first-byte", "truncated", FULL, "wrong"), _first_byte),
    (
        Operator("last-line", "truncated", ("text", "json", "yaml", "toml", "xml", "table", "code"), "wrong"),
        _last_line,
    ),
)
