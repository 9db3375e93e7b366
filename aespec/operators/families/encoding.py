"""The same characters in other bytes: a byte order mark, the other normal form of Unicode."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from aespec.model.chooser import Chooser
from aespec.model.edit_forms import put
from aespec.operators.api import Draft, Operator, Output, Scene
from aespec.operators.contents import BYTE_ORDER_MARK, data_of, is_marked, rewrite, text_in


def _mark(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    data = data_of(output)
    if is_marked(output):
        edit = put(output.path, data.removeprefix(BYTE_ORDER_MARK))
        yield Draft(output.path, (edit,), "it begins without a byte order mark")
    else:
        yield Draft(
            output.path, (put(output.path, BYTE_ORDER_MARK + data),), "it begins with a byte order mark"
        )


def _normal_form(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    text = text_in(output)
    for form in ("NFC", "NFD") if not text.isascii() else ():
        other = unicodedata.normalize(form, text)
        if other != text:
            says = f"its letters are in the normal form {form}"
            yield Draft(output.path, (rewrite(output, other),), says)


OPERATORS = (
    (Operator("byte-order-mark", "encoding", ("text", "table"), "right"), _mark),
    (Operator("normal-form", "encoding", ("text",), "right"), _normal_form),
)
