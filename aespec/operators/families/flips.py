"""Single bytes of what has no readable parts are others."""

from __future__ import annotations

from collections.abc import Iterator

from aespec.model.chooser import Chooser
from aespec.model.edit_forms import put
from aespec.operators.api import Draft, Operator, Output, Scene
from aespec.operators.contents import data_of
from aespec.operators.leaves import leaves_of

FLIPS = 8


def _flipped(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """In the middle, at the end, then where it is drawn; the first bytes only say what kind of file it is."""
    data = data_of(output)
    if leaves_of(output)[0].selector:
        return  # it has parts of its own to be changed
    low = min(16, len(data) - 1)
    drawn = (chooser.integer(low, len(data) - 1) for _ in range(FLIPS))
    for place in (len(data) // 2, len(data) - 1, *drawn):
        changed = data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :]
        yield Draft(output.path, (put(output.path, changed),), f"its byte {place} is another one")


def _appended(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    edit = put(output.path, data_of(output) + bytes(64))
    yield Draft(output.path, (edit,), "sixty-four zero bytes follow its content")


OPERATORS = (
    (Operator("flipped-byte", "bytes", ("binary", "sqlite", "archive", "office"), "wrong"), _flipped),
    (Operator("appended-bytes", "bytes", ("binary",), "depends"), _appended),
)
