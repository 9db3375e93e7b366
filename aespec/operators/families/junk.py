"""Something stands there and no more: emptied, of the right size and shape, or another thing altogether."""

from __future__ import annotations

import random
import re
import string
from collections.abc import Iterator

from aespec.model.chooser import Chooser, shuffled
from aespec.model.edit_forms import folder, link, put
from aespec.operators.api import FILE_KINDS, Draft, Operator, Output, Scene
from aespec.operators.contents import data_of, text_in
from aespec.operators.formats.tables import read_table, write_table
from aespec.operators.leaves import SPANNED, leaves_of

FULL = tuple(kind for kind in FILE_KINDS if kind != "empty")
HEADER_BYTES = 16
COPIES = 3


def _empty(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    yield Draft(output.path, (put(output.path, b""),), "it is empty")


def _junk(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    source = random.Random(chooser.integer(0, 2**32 - 1))
    data = _junked(output, source)
    yield Draft(
        output.path,
        (put(output.path, data),),
        "only the size and the shape of its content are left",
    )


def _junked(output: Output, source: random.Random) -> bytes:
    """Every letter and digit of the values another one; the names of keys and columns stay."""
    text = text_in(output)
    table = read_table(output.path, text) if output.kind == "table" else None
    if table is not None:
        return write_table(table, [[_other(cell, source) for cell in row] for row in table.rows]).encode()
    if output.kind in SPANNED and text:
        pieces, at = [], 0
        for leaf in leaves_of(output):
            if leaf.node is not None and leaf.node.start >= at:
                raw = leaf.raw if not isinstance(leaf.value, bool | None) else _other_word(leaf.raw)
                is_word = isinstance(leaf.value, bool | None)
                pieces += [text[at : leaf.node.start], raw if is_word else _other(raw, source)]
                at = leaf.node.end
        return "".join([*pieces, text[at:]]).encode()
    if text:
        return _other(text, source).encode()
    data = data_of(output)
    return data[:HEADER_BYTES] + source.randbytes(max(0, len(data) - HEADER_BYTES))


def _other_word(raw: str) -> str:
    return {"true": "false", "false": "true", "null": "true"}.get(raw, raw)


def _other(text: str, source: random.Random) -> str:
    """Other letters of the same case, other digits; zeros and what stands behind a backslash stay."""
    table: dict[int, str] = {}
    for letters in (string.ascii_lowercase, string.ascii_uppercase, "123456789"):
        step = source.randrange(1, len(letters))
        table |= {ord(old): new for old, new in zip(letters, letters[step:] + letters[:step], strict=True)}
    return re.sub(
        r"\\.|[^\\]+", lambda piece: piece[0] if piece[0][0] == "\\" else piece[0].translate(table), text
    )


def _zeros(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    size = len(data_of(output))
    yield Draft(output.path, (put(output.path, bytes(size)),), "it holds as many bytes, all of them zero")


def _folder(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    yield Draft(output.path, (folder(output.path),), "it is an empty folder")


def _device(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    yield Draft(output.path, (link(output.path, "/dev/null"),), "it is a link to /dev/null")


def _another(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    others = [other for other in scene.outputs if other.path != output.path and data_of(other)]
    alike = [other for other in others if other.kind == output.kind] or others
    for other, _ in zip(shuffled(alike, chooser), range(COPIES), strict=False):
        says = f"it holds what belongs into {other.path}"
        yield Draft(output.path, (put(output.path, data_of(other)),), says)


def _copied(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    ending = output.path.rpartition("/")[2].rpartition(".")[2]
    paths = [path for path in sorted(scene.inputs) if scene.inputs[path]]
    alike = [path for path in paths if path.endswith(f".{ending}")] or paths
    for path, _ in zip(shuffled(alike, chooser), range(COPIES), strict=False):
        yield Draft(output.path, (put(output.path, scene.inputs[path]),), f"it is a copy of {path}")


OPERATORS = (
    (Operator("empty", "junk", FULL, "wrong"), _empty),
    (Operator("junk", "junk", FULL, "wrong"), _junk),
    (Operator("zeros", "junk", FULL, "wrong"), _zeros),
    (Operator("folder-instead", "junk", FILE_KINDS, "wrong"), _folder),
    (Operator("device-instead", "junk", FULL, "wrong"), _device),
    (Operator("another-output", "junk", FILE_KINDS, "wrong"), _another),
    (Operator("input-copied", "junk", FILE_KINDS, "wrong"), _copied),
)
