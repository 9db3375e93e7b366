"""The smallest edits that still do what a list of edits did, found within a number of tries.

Edits are dropped; a content that was put as a whole is led back to the original value by value, hunk by hunk,
letter by letter; values become simple ones. Equal input gives equal output: nothing is drawn.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence

from aespec.model.edit import Edit
from aespec.model.edit_forms import change
from aespec.model.edits import EditError, edit_mode
from aespec.model.expressions import Json
from aespec.model.json_text import canonical_json
from aespec.operators.api import Mutant, Output, Scene
from aespec.operators.formats.json_text import read_json
from aespec.operators.kinds import text_of
from aespec.operators.leaves import Leaf, leaves_of, set_leaf
from aespec.operators.scene import state_of
from aespec.operators.states import edit_state
from aespec.runtime.compare import same
from aespec.runtime.memory import MemoryState, Node

_SIMPLE: tuple[Json, ...] = (None, False, 0, "", [], {})
"""Values that say nothing, the simplest first."""

Edits = tuple[Edit, ...]
Survives = Callable[[Edits], bool]

LINES_LIMIT = 5_000
LEAVES_LIMIT = 2_000
LETTERS_LIMIT = 400
LIVELY = ("put", "swap")
"""Operations whose outcome is led back towards the original; others say by themselves what they do."""


class _Search:
    """Tries, each of which is asked only once, until none is left."""

    def __init__(self, survives: Survives, calls: int) -> None:
        self._survives = survives
        self._known: dict[bytes, bool] = {}
        self.left = calls

    def holds(self, edits: Edits) -> bool:
        """Whether these edits still survive; False once no try is left."""
        key = canonical_json([[edit.path, edit.pointer, edit.operation, edit.value] for edit in edits])
        if key not in self._known:
            if self.left <= 0:
                return False
            self.left -= 1
            self._known[key] = self._survives(edits)
        return self._known[key]


def shrink(mutant: Mutant | Sequence[Edit], scene: Scene, survives: Survives, *, calls: int = 100) -> Edits:
    """The smallest edits found of those of a mutant, or of several together, for which `survives` holds.

    It is called at most `calls` times; the given edits are taken to survive.
    """
    edits = mutant.edits if isinstance(mutant, Mutant) else tuple(mutant)
    search = _Search(survives, calls)
    while True:
        edits = _fewer(edits, lambda kept: _is_applicable(scene, kept) and search.holds(kept))
        smaller = _reduced(edits, scene, search)
        if smaller == edits:
            return edits
        edits = smaller


def _fewer(items: Edits, holds: Callable[[Edits], bool]) -> Edits:
    """Some of the items of which none can be left out; halves first, then ever smaller parts."""
    size = len(items) // 2
    while size >= 1:
        at = 0
        while at < len(items) and len(items) > 1:
            kept = (*items[:at], *items[at + size :])
            if kept and holds(kept):
                items = kept
            else:
                at += size
        size //= 2
    return items


def _is_applicable(scene: Scene, edits: Edits) -> bool:
    try:
        before = state_of(scene)
        return edit_state(before, edits).nodes != before.nodes
    except EditError:
        return False


def _reduced(edits: Edits, scene: Scene, search: _Search) -> Edits:
    """The first smaller list that holds, tried edit by edit."""
    state = state_of(scene)
    kinds = {output.path: output.kind for output in scene.outputs}
    for index, edit in enumerate(edits):
        before = edit_state(state, edits[:index])
        for replacement in _smaller(edit, kinds.get(edit.path, ""), before):
            tried = (*edits[:index], *replacement, *edits[index + 1 :])
            if _is_applicable(scene, tried) and search.holds(tried):
                return tried
            if search.left <= 0:
                return edits
    return edits


def _smaller(edit: Edit, kind: str, state: MemoryState) -> Iterator[Edits]:
    """What may stand in an edit's place, the boldest first."""
    if edit.operation == "set":
        for value in _simpler(edit.value):
            yield (Edit(edit.path, edit.pointer, "set", value),)
        return
    old = state.nodes.get(edit.path)
    if edit.operation not in LIVELY or old is None or old.kind != "file":
        return
    if edit_mode(edit) is not None:
        return
    new = edit_state(state, [edit]).nodes[edit.path]
    yield from _towards(edit, kind, old, new)


def _simpler(value: Json) -> Iterator[Json]:
    for other in _SIMPLE:
        if same(other, value):
            return
        yield other
    if isinstance(value, list):
        yield from (value[:at] + value[at + 1 :] for at in range(len(value)))
    elif isinstance(value, dict):
        yield from ({key: item for key, item in value.items() if key != name} for name in value)
    elif isinstance(value, str) and len(value) > 1:
        yield from (value[: len(value) // 2], value[:1])


def _towards(edit: Edit, kind: str, old: Node, new: Node) -> Iterator[Edits]:
    """Contents between the old and the new one: nearer to the old by values, by lines, by letters."""
    before, after = text_of(old.data), text_of(new.data)
    size = _size(edit)
    if before is None or after is None or not old.data or not new.data:
        return
    plain = change(edit.path, old.data, new.data)
    if _size(plain) < size:
        yield (plain,)
    for edits in _by_values(edit.path, kind, old, new):
        if edit.operation == "put" or sum(map(_size, edits)) < size:
            yield edits
    for text in (*_by_parts(_lines(before), _lines(after)), *_by_letters(before, after)):
        # Each is nearer to the old one than the new one is, so this comes to an end.
        if text not in (before, after):
            yield (change(edit.path, old.data, text.encode("utf-8", "surrogatepass")),)


def _size(edit: Edit) -> int:
    return len(canonical_json([edit.operation, edit.value]))


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _by_values(path: str, kind: str, old: Node, new: Node) -> Iterator[Edits]:
    """Where only values differ, the edits that set them: half of them, then each alone."""
    before, after = Output(path, kind, None, old), Output(path, kind, None, new)
    if kind not in ("json", "table", "yaml", "toml", "xml"):
        return
    values = {leaf.selector: leaf.value for leaf in leaves_of(after)}
    changed = [
        leaf
        for leaf in leaves_of(before)[:LEAVES_LIMIT]
        if leaf.selector in values and not same(values[leaf.selector], leaf.value)
    ]
    if not changed or (kind == "json" and (read_json(text_of(new.data) or "") is None)):
        return
    yield from _value_sets(before, changed, values)


def _value_sets(output: Output, changed: Sequence[Leaf], values: dict[str, Json]) -> Iterator[Edits]:
    """Single values by an edit each; several together only where edits are by pointer, so that all fit."""
    edits = [edit for leaf in changed if (edit := set_leaf(output, leaf, values[leaf.selector])) is not None]
    if len(edits) > 2 and all(edit.operation == "set" for edit in edits):
        half = len(edits) // 2
        yield from (tuple(edits[:half]), tuple(edits[half:]))
    yield from ((edit,) for edit in edits)


def _by_parts(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Texts with only some of the differing parts as in the new one: half of them, one, all but one."""
    if max(len(old), len(new)) > LINES_LIMIT:
        return
    codes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    parts = [number for number, code in enumerate(codes) if code[0] != "equal"]
    if len(parts) < 2:
        yield from _within_part(old, new, codes)
        return
    half = len(parts) // 2
    for kept in (
        {*parts[:half]},
        {*parts[half:]},
        *({part} for part in parts),
        *({*parts} - {p} for p in parts),
    ):
        yield "".join(_mixed(old, new, codes, kept))


def _mixed(
    old: Sequence[str], new: Sequence[str], codes: Iterable[tuple[str, int, int, int, int]], kept: set[int]
) -> Iterator[str]:
    for number, (_, low, high, start, end) in enumerate(codes):
        yield from new[start:end] if number in kept else old[low:high]


def _within_part(
    old: Sequence[str], new: Sequence[str], codes: Sequence[tuple[str, int, int, int, int]]
) -> Iterator[str]:
    """One hunk of lines: only its first half is as new, only its second, only one line of it."""
    code = next((item for item in codes if item[0] != "equal"), None)
    if code is None:
        return
    _, low, high, start, end = code
    one, other = old[low:high], new[start:end]
    length = max(len(one), len(other))
    halves = [(0, length // 2), (length // 2, length)] if length > 1 else []
    singles = [(at, at + 1) for at in range(length)] if 2 < length <= LETTERS_LIMIT else []
    for first, last in (*halves, *singles):
        yield "".join([*old[:low], *one[:first], *other[first:last], *one[last:], *old[high:]])


def _by_letters(before: str, after: str) -> Iterator[str]:
    """A single line that differs, letter by letter."""
    one, other = _lines(before), _lines(after)
    if len(one) != len(other):
        return
    places = [at for at, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1]]
    if len(places) != 1 or max(len(one[places[0]]), len(other[places[0]])) > LETTERS_LIMIT:
        return
    at = places[0]
    for line in _by_parts(list(one[at]), list(other[at])):
        yield "".join([*one[:at], line, *one[at + 1 :]])
