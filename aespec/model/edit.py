"""An edit: the smallest change of an end state that can be written down, replayed and composed.

The JSON form is `schemas/edit.schema.json`; `docs/formats.md` tells the operations.
"""

from __future__ import annotations

from aespec.model.expressions import Json
from aespec.records import dataclass


@dataclass(frozen=True, slots=True)
class Edit:
    """Change the leaf at `path` + `pointer` by `operation` with `value`.

    `path` is absolute; `pointer` is what stands after `#` in a leaf's address ("" for the whole file).
    Operations on whole files: `put` (value: {"text": …} or {"base64": …}, optional "mode"), `delete`,
    `swap` (value: {"old": …, "new": …}; `old` must stand exactly once), `link` (value: where the symbolic
    link points to) and `folder`, which take the place of what stood there. Operations on leaves (JSON
    pointers `/a/0`, table cells `row/column` with rows counted from 0 below the header): `set`, `remove`,
    `insert` (into a list, before the index), `rename` (value: the new key).
    """

    path: str
    pointer: str
    operation: str
    value: Json = None

    @property
    def address(self) -> str:
        """`PATH` or `PATH#POINTER`."""
        return f"{self.path}#{self.pointer}" if self.pointer else self.path
